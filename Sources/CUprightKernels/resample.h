// Declarations that the levels of the resampling share.
#pragma once

#include "CPixelResample.h"
#include "levels.h"

UPRIGHT_INLINE const int16_t *upright_taps(const upright_filter_bank *bank, size_t output) {
  return bank->coefficients + bank->capacity * output;
}

// The number of bits by which the first filter's sums are shifted if samples have two bytes, and the second one's.
UPRIGHT_INLINE int upright_down_shift(const upright_resampling *r) { return r->bit_depth; }
UPRIGHT_INLINE int upright_across_shift(const upright_resampling *r, size_t size) {
  return size == 1 ? 21 : 2 * UPRIGHT_FILTER_BITS - r->bit_depth;
}

// The largest value of a sample.
UPRIGHT_INLINE int upright_top(const upright_resampling *r) { return (1 << r->bit_depth) - 1; }

enum {
  // The number of rows between the filters that are processed at a time: a cache line of samples.
  UPRIGHT_BAND = 64,
  // The number of samples in these rows that are filtered at a time, a cache line of the source's bytes, and the
  // distance from row to row of what is stored of it: at a multiple of a large power of two, all of a column's samples
  // would be in the same few cache lines.
  UPRIGHT_STRIP = 64,
  UPRIGHT_PITCH = UPRIGHT_STRIP + 16,
  // The most outputs that a source row is added to at a time. Two vectors of each are in registers.
  UPRIGHT_SLOTS = 6,
};

// Rows of the source, `first` to `end`.
typedef struct upright_rows {
  size_t first;
  size_t end;
} upright_rows;

// Returns the source rows that the `count` outputs from `output` on read.
UPRIGHT_INLINE upright_rows upright_rows_of(const upright_filter_bank *bank, size_t output,
                                            size_t count) {
  upright_rows rows = {SIZE_MAX, 0};
  for (size_t j = output; j < upright_min(output + count, bank->count); j++) {
    const size_t first = bank->starts[j], end = first + bank->counts[j];
    if (first < rows.first) rows.first = first;
    if (end > rows.end) rows.end = end;
  }
  return rows;
}

// Whether the first output reads the last samples.
UPRIGHT_INLINE int upright_is_reversed(const upright_filter_bank *bank) {
  return bank->starts[0] > bank->starts[bank->count - 1];
}

// Returns the `n`-th of the outputs from `first` on, up to a band of them, in the order of what they read.
UPRIGHT_INLINE size_t upright_output(const upright_filter_bank *bank, size_t first, size_t n) {
  if (!upright_is_reversed(bank)) return first + n;
  return upright_min(first + UPRIGHT_BAND, bank->count) - 1 - n;
}

// A level's scratch memory, each part aligned to a cache line.
typedef struct upright_resample_work {
  // A strip of each of a band's rows between the filters.
  int16_t *stage;
  // A strip of each of the source's rows that a band reads: as 16-bit numbers, or bytes at the end of a row.
  int16_t *wide;
  // A transposed band: for every pair of samples along a row, the pair of each of the band's rows.
  int16_t *band;
  // Elements of the destination whose rows and columns must be exchanged once more.
  uint8_t *tile;
  // For each row that a pass over a band reads, in this order, `slots` + 1 numbers: what the row is multiplied by for each
  // of the outputs in progress, the oldest first, repeated in four words; then the number of outputs that it completes.
  uint64_t *steps;
  // The size of all parts in bytes.
  size_t size;
} upright_resample_work;

// Lays out `scratch`, or only computes its size if it is null.
upright_resample_work upright_resample_layout(const upright_resampling *r, void *scratch);

#define UPRIGHT_RESAMPLE                                                                   \
  const upright_resampling *r, uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, \
      ptrdiff_t src_stride, void *scratch

void upright_resample_c(UPRIGHT_RESAMPLE);
#if defined(__x86_64__)
void upright_resample_sse4(UPRIGHT_RESAMPLE);
void upright_resample_avx2(UPRIGHT_RESAMPLE);
void upright_resample_avx512(UPRIGHT_RESAMPLE);
#elif defined(__aarch64__)
void upright_resample_neon(UPRIGHT_RESAMPLE);
#endif
