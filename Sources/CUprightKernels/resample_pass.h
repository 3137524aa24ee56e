// The resampling: columns are filtered in vectors of rows, then the rows are transposed in tiles of four and
// filtered the same way. Nothing is ever gathered along a row.
//
// Included once by each level, after its operations on vectors:
//
//   INLINE, TARGET               the attributes of an inlined function, of another one
//   WORDS                        the words of a vector
//   STEP                         the samples that the first filter processes together: two vectors
//   UNIT                         the rows of the band that the second filter processes together
//   TRANSPOSE(n)                 the level's transpose of elements of n bytes
//   widen_row, lower_row         converts a row of the source, of bytes or of words, to signed words
//   filter_wide, filter_narrow   the first filter, on widened bytes; on bytes, if the bank is coarse
//   filter_words                 the first filter, on words
//   turn_pairs                   transposes eight samples of WORDS / 2 rows
//   write_unit                   the second filter
#include <string.h>

#include "planes.h"
#include "resample.h"

#define FOR_USUAL_COUNTS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)

// The filters of bytes, with the number of rows as a constant for common numbers.
TARGET static void filter_row_narrow(int16_t *to, const uint8_t *from, ptrdiff_t stride,
                                     const int16_t *taps, size_t rows, size_t count) {
  switch (rows) {
#define CASE(N) \
  case N: filter_narrow(to, from, stride, taps, N, count, N); break;
    FOR_USUAL_COUNTS(CASE)
    default: filter_narrow(to, from, stride, taps, rows, count, 0);
#undef CASE
  }
}

TARGET static void filter_row_wide(int16_t *to, const int16_t *from, const int16_t *taps,
                                   size_t rows, size_t count) {
  switch (rows) {
#define CASE(N) \
  case N: filter_wide(to, from, taps, N, count, N); break;
    FOR_USUAL_COUNTS(CASE)
    default: filter_wide(to, from, taps, rows, count, 0);
#undef CASE
  }
}

// A resampling in progress: the planes, and the current band.
typedef struct pass {
  const upright_resampling *r;
  upright_resample_work w;
  const uint8_t *src;
  ptrdiff_t src_stride;
  // The band: rows between the filters.
  size_t top;
  size_t rows;
  // Its position in the destination.
  uint8_t *dst;
  ptrdiff_t dst_stride;
  // The number of outputs of the band that are written, and the sample of its first column in memory.
  size_t written;
  size_t base;
  // The rows of the source that are still to be prefetched, the byte offset of the next line in the first of
  // them, and the number of lines at a time.
  upright_rows next;
  size_t column;
  size_t share;
} pass;

// Returns the end of the run that begins at `begin`. If the bank is coarse, a partial step at the end of a
// row is a separate run.
UPRIGHT_INLINE size_t run_end(const pass *p, size_t begin) {
  const size_t samples = p->r->width * p->r->components, whole = samples / STEP * STEP;
  return upright_min(begin + UPRIGHT_RUN, p->r->is_coarse && begin < whole ? whole : samples);
}

// Prefetches the next lines for the next band, row by row, as the hardware expects it. It is called often,
// for a few lines each, because more at once would wait for each other.
INLINE void ask(pass *p, size_t size) {
  const size_t bytes = p->r->width * p->r->components * size;
  for (size_t n = 0; n < p->share && p->next.first < p->next.end; n++) {
    __builtin_prefetch(upright_const_row(p->src, p->src_stride, p->next.first) + p->column, 0, 2);
    p->column += UPRIGHT_LINE;
    if (p->column < bytes) continue;
    p->column = 0;
    p->next.first++;
  }
}

// Sets what `ask` prefetches while this band is processed.
UPRIGHT_INLINE void look_ahead(pass *p, size_t size) {
  const upright_resampling *r = p->r;
  p->next = upright_rows_of(&r->down, p->top + p->rows, UPRIGHT_BAND);
  p->column = 0;
  const size_t samples = r->width * r->components;
  const size_t pieces = (p->rows / UPRIGHT_GROUP + 1) * (samples / UPRIGHT_RUN + 1);
  if (p->next.first >= p->next.end) return;
  const size_t lines = (p->next.end - p->next.first) * (samples * size / UPRIGHT_LINE + 1);
  // A group of a run calls `ask` for each row that it reads: about as many as it has.
  p->share = lines / (pieces * UPRIGHT_GROUP) + 1;
}

// Transposes a group's rows of a run, in `steps` samples. The part of each of the band's lines is written at
// once.
INLINE void turn_group(pass *p, size_t begin, size_t top, size_t steps, size_t components,
                       size_t size) {
  int16_t *to = p->w.band + (begin - p->base) * UPRIGHT_BAND + 2 * top;
  for (size_t i = 0; i < steps; i += 8) {
    // Where bytes have been unpacked, the lanes of the second vector of a step go between those of the first.
    const size_t place = size == 2 ? i : i / STEP * STEP + i % WORDS * 2 + i % STEP / WORDS * 8;
    for (size_t n = 0; n < UPRIGHT_GROUP; n += WORDS / 2) {
      turn_pairs(to + place * UPRIGHT_BAND + 2 * n, p->w.stage + n * UPRIGHT_PITCH + i, components);
    }
  }
}

// Applies the first filter to a run of the band, and transposes it.
INLINE void fill_run(pass *p, size_t begin, size_t end, size_t components, size_t size) {
  const upright_filter_bank *bank = &p->r->down;
  const int shift = upright_down_shift(p->r);
  const size_t count = end - begin, steps = (count + STEP - 1) / STEP * STEP;
  const int is_narrow = size == 1 && p->r->is_coarse && count == steps;
  for (size_t top = 0; top < p->rows; top += UPRIGHT_GROUP) {
    const upright_rows needed = upright_rows_of(bank, p->top + top, UPRIGHT_GROUP);
    const uint8_t *first = upright_const_row(p->src, p->src_stride, needed.first) + begin * size;
    for (size_t y = 0; !is_narrow && y < needed.end - needed.first; y++) {
      ask(p, size);
      int16_t *to = p->w.wide + y * UPRIGHT_PITCH;
      const uint8_t *from = upright_const_row(first, p->src_stride, y);
      if (size == 1) widen_row(to, from, count);
      else lower_row(to, from, count, p->r);
    }
    const size_t outputs = upright_min(UPRIGHT_GROUP, p->rows - top);
    for (size_t n = 0; n < outputs; n++) {
      const size_t j = p->top + top + n, y = bank->starts[j] - needed.first;
      const int16_t *taps = upright_taps(bank, j), *wide = p->w.wide + y * UPRIGHT_PITCH;
      int16_t *to = p->w.stage + n * UPRIGHT_PITCH;
      if (is_narrow) {
        ask(p, size);
        filter_row_narrow(to, upright_const_row(first, p->src_stride, y), p->src_stride, taps,
                          bank->counts[j], steps);
      } else if (size == 1) {
        filter_row_wide(to, wide, taps, bank->counts[j], steps);
      } else {
        filter_words(to, wide, taps, bank->counts[j], steps, shift);
      }
    }
    turn_group(p, begin, top, steps, components, size);
  }
}

INLINE void write_column(const pass *p, uint8_t *to, size_t output, size_t components, size_t size,
                         size_t pairs) {
  const size_t start = p->r->across.starts[output] * components - p->base;
  const int16_t *first = p->w.band + start * UPRIGHT_BAND;
  for (size_t top = 0; top < p->rows; top += UNIT) {
    write_unit(to + top * components * size, first + 2 * top, output, p->r, components, size,
               pairs);
  }
}

// Returns output `n` in the order of the band's columns.
UPRIGHT_INLINE size_t output_at(const upright_filter_bank *bank, size_t n) {
  return bank->starts[0] > bank->starts[bank->count - 1] ? bank->count - 1 - n : n;
}

// Applies the second filter, to the destination's rows: each output of the band is a piece of one. Writes the
// outputs for which the band's columns up to `end` are sufficient, while these are in the cache, then moves
// the columns that the next output needs to the front.
INLINE void write_rows(pass *p, size_t end, size_t components, size_t size, size_t pairs) {
  enum { AHEAD = 16 };
  const upright_filter_bank *bank = &p->r->across;
  const ptrdiff_t ahead = output_at(bank, 0) == 0 ? AHEAD * p->dst_stride : -AHEAD * p->dst_stride;
  const int is_whole = p->rows % UNIT == 0;
  for (; p->written < bank->count; p->written++) {
    const size_t i = output_at(bank, p->written);
    if ((bank->starts[i] + bank->counts[i]) * components > end) break;
    uint8_t *to = upright_row(p->dst, p->dst_stride, i);
    __builtin_prefetch((const void *)((uintptr_t)to + (uintptr_t)ahead), 1, 3);
    write_column(p, is_whole ? to : p->w.tile, i, components, size, pairs);
    if (!is_whole) memcpy(to, p->w.tile, p->rows * components * size);
  }
  if (p->written == bank->count) return;
  const size_t next = bank->starts[output_at(bank, p->written)] * components;
  const size_t base = upright_min(next, end);
  memmove(p->w.band, p->w.band + (base - p->base) * UPRIGHT_BAND,
          (end - base) * UPRIGHT_BAND * sizeof(int16_t));
  p->base = base;
}

// Applies the second filter, to the destination's columns, through a tile that is transposed back.
INLINE void write_columns(const pass *p, size_t components, size_t size, size_t pairs,
                          upright_plane_fn transpose) {
  const upright_filter_bank *bank = &p->r->across;
  const size_t element = components * size;
  const ptrdiff_t tile_stride = (ptrdiff_t)(UPRIGHT_BAND * element);
  for (size_t left = 0; left < bank->count; left += UPRIGHT_BAND) {
    const size_t columns = upright_min(UPRIGHT_BAND, bank->count - left);
    for (size_t n = 0; n < columns; n++) {
      write_column(p, upright_row(p->w.tile, tile_stride, n), left + n, components, size, pairs);
    }
    transpose(p->dst + left * element, p->dst_stride, p->w.tile, tile_stride, p->rows, columns);
  }
}

// Applies the second filter, with the number of pairs as a constant for common numbers.
INLINE void write_band(pass *p, size_t end, size_t components, size_t size,
                       upright_plane_fn transpose) {
  const size_t pairs = p->r->across.capacity / 2;
  if (!p->r->swaps_axes) {
    // All at once, because a tile's columns are neighbours.
    if (end == p->r->width * components) write_columns(p, components, size, pairs, transpose);
    return;
  }
  switch (pairs) {
#define CASE(N) \
  case N: write_rows(p, end, components, size, N); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
    default: write_rows(p, end, components, size, pairs);
#undef CASE
  }
}

INLINE void resample(pass p, uint8_t *dst, size_t components, size_t size,
                     upright_plane_fn transpose) {
  const upright_resampling *r = p.r;
  for (p.top = 0; p.top < r->down.count; p.top += UPRIGHT_BAND) {
    p.rows = upright_min(UPRIGHT_BAND, r->down.count - p.top);
    p.dst = r->swaps_axes ? dst + p.top * components * size : upright_row(dst, p.dst_stride, p.top);
    p.written = 0;
    p.base = 0;
    look_ahead(&p, size);
    for (size_t begin = 0, end; begin < r->width * components; begin = end) {
      end = run_end(&p, begin);
      fill_run(&p, begin, end, components, size);
      write_band(&p, end, components, size, transpose);
    }
  }
}

INLINE void resample_any(const upright_resampling *r, uint8_t *dst, ptrdiff_t dst_stride,
                         const uint8_t *src, ptrdiff_t src_stride, void *scratch) {
  const pass p = {.r = r,
                  .w = upright_resample_layout(r, scratch),
                  .src = src,
                  .src_stride = src_stride,
                  .dst_stride = dst_stride};
  if (r->component_size == 1 && r->components == 1) {
    resample(p, dst, 1, 1, TRANSPOSE(1));
  } else if (r->component_size == 1 && r->components == 2) {
    resample(p, dst, 2, 1, TRANSPOSE(2));
  } else if (r->component_size == 1) {
    resample(p, dst, 4, 1, TRANSPOSE(4));
  } else if (r->components == 1) {
    resample(p, dst, 1, 2, TRANSPOSE(2));
  } else {
    resample(p, dst, 2, 2, TRANSPOSE(4));
  }
}
