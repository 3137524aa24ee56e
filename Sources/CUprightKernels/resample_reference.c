// The definition of a resampling, as in the header.
#include <string.h>

#include "resample.h"

static int32_t limited(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

// Returns a sample of a row. Little-endian, as are all CPUs that Swift supports.
static int32_t sample_at(const upright_resampling *r, const uint8_t *row, size_t index) {
  if (r->component_size == 1) return row[index];
  uint16_t value;
  memcpy(&value, row + 2 * index, 2);
  return limited(value >> r->bit_shift, 0, upright_top(r));
}

// Computes row `output` of the first filter's result.
static void filter_down(const upright_resampling *r, size_t output, int16_t *to,
                        const uint8_t *src, ptrdiff_t src_stride) {
  const int16_t *taps = upright_taps(&r->down, output);
  const size_t start = r->down.starts[output], count = r->down.counts[output];
  const size_t size = r->component_size;
  const int shift = upright_down_shift(r);
  for (size_t x = 0; x < r->width * r->components; x++) {
    int32_t sum = size == 1 ? 0 : 1 << (shift - 1);
    for (size_t k = 0; k < count; k++) {
      const int32_t sample = sample_at(r, upright_const_row(src, src_stride, start + k), x);
      sum += size == 1 ? ((sample - 128) * taps[k] + 64) >> 7 : sample * taps[k];
    }
    to[x] = (int16_t)(size == 1 ? sum : limited(sum >> shift, INT16_MIN, INT16_MAX));
  }
}

static uint16_t filter_across(const upright_resampling *r, size_t output, const int16_t *from,
                              size_t component) {
  const int16_t *taps = upright_taps(&r->across, output);
  const size_t start = r->across.starts[output], count = r->across.counts[output];
  const int shift = upright_across_shift(r, r->component_size);
  int32_t sum = 1 << (shift - 1);
  for (size_t k = 0; k < count; k++) {
    sum += from[(start + k) * r->components + component] * taps[k];
  }
  sum >>= shift;
  if (r->component_size == 1) return (uint16_t)limited(sum + 128, 0, 255);
  return (uint16_t)(limited(sum, 0, upright_top(r)) << r->bit_shift);
}

void upright_resample_c(UPRIGHT_RESAMPLE) {
  int16_t *const between = scratch;
  for (size_t j = 0; j < r->down.count; j++) {
    filter_down(r, j, between, src, src_stride);
    for (size_t i = 0; i < r->across.count; i++) {
      uint8_t *row = upright_row(dst, dst_stride, r->swaps_axes ? i : j);
      const size_t first = (r->swaps_axes ? j : i) * r->components;
      for (size_t c = 0; c < r->components; c++) {
        const uint16_t value = filter_across(r, i, between, c);
        if (r->component_size == 1) {
          row[first + c] = (uint8_t)value;
        } else {
          memcpy(row + 2 * (first + c), &value, 2);
        }
      }
    }
  }
}
