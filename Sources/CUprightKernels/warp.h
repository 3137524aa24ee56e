// Definitions that all levels of the warp share: the fixed-point coordinates, the part of a destination row
// that is inside the source, and the arithmetic of one sample.
#pragma once

#include "levels.h"

enum {
  // The fraction bits of a coordinate.
  WARP_BITS = UPRIGHT_WARP_FRACTION_BITS,
  // The fraction bits of the neighbours' weights. An error of 2^-13 of a sample's distance is an eighth of a
  // level for 8 bits and, with 2^-15, for 10 bits.
  WARP_WEIGHT_BITS_1 = 12,
  WARP_WEIGHT_BITS_2 = 14,
};

#define WARP_ONE ((int64_t)1 << WARP_BITS)
#define WARP_HALF (WARP_ONE / 2)

#define UPRIGHT_WARP                                                                     \
  uint8_t *dst, ptrdiff_t dst_stride, size_t dst_width, size_t dst_height,               \
      const uint8_t *src, ptrdiff_t src_stride, size_t src_width, size_t src_height,     \
      const upright_warp_map *map

void upright_warp_1x1_c(UPRIGHT_WARP);
void upright_warp_2x1_c(UPRIGHT_WARP);
void upright_warp_1x2_c(UPRIGHT_WARP);
void upright_warp_2x2_c(UPRIGHT_WARP);

// Returns half a step of the weights, which is added before truncation.
UPRIGHT_INLINE int64_t warp_rounding(size_t component_size) {
  return WARP_ONE >> ((component_size == 1 ? WARP_WEIGHT_BITS_1 : WARP_WEIGHT_BITS_2) + 1);
}

UPRIGHT_INLINE int64_t warp_floor_divide(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0);
}

// Narrows [*first, *last) to the x with 0 <= start + x * step < end.
UPRIGHT_INLINE void warp_clip(int64_t start, int64_t step, int64_t end, int64_t *first,
                              int64_t *last) {
  int64_t low, high;
  if (step > 0) {
    low = -warp_floor_divide(start, step);
    high = -warp_floor_divide(start - end, step);
  } else if (step < 0) {
    low = warp_floor_divide(start - end, -step) + 1;
    high = warp_floor_divide(start, -step) + 1;
  } else {
    if (start < 0 || start >= end) *last = *first;
    return;
  }
  if (low > *first) *first = low;
  if (high < *last) *last = high;
}

// Computes the x of row y, from *first up to but not including *last, whose centres are inside the source.
// Both are 0 if there are none.
UPRIGHT_INLINE void warp_span(const upright_warp_map *map, int64_t y, size_t dst_width,
                              size_t src_width, size_t src_height, int64_t *first, int64_t *last) {
  *first = 0;
  *last = (int64_t)dst_width;
  warp_clip(map->u + y * map->uy, map->ux, (int64_t)src_width * WARP_ONE, first, last);
  warp_clip(map->v + y * map->vy, map->vx, (int64_t)src_height * WARP_ONE, first, last);
  if (*last <= *first) *first = *last = 0;
}

// Returns the index of the sample before the continuous coordinate `u` of an axis with `count` samples, and
// the weight of the next sample. Beyond the outermost centres, the outermost sample has all the weight.
UPRIGHT_INLINE size_t warp_index(int64_t u, size_t count, size_t component_size, int *weight) {
  const int bits = component_size == 1 ? WARP_WEIGHT_BITS_1 : WARP_WEIGHT_BITS_2;
  const int64_t end = (int64_t)(count - 1) * WARP_ONE;
  int64_t s = u - WARP_HALF;
  if (s < 0) s = 0;
  if (s > end) s = end;
  s += warp_rounding(component_size);
  *weight = (int)(s >> (WARP_BITS - bits)) & ((1 << bits) - 1);
  return (size_t)(s >> WARP_BITS);
}

// 8 bits: in units of 1/64, as a 16-bit multiplication with rounding computes it.
UPRIGHT_INLINE int warp_mix_1(int a, int b, int weight) {
  return a + (((b - a) * (weight << 3) + (1 << 14)) >> 15);
}

UPRIGHT_INLINE int warp_bilinear_1(int a, int b, int c, int d, int across, int down) {
  const int top = warp_mix_1(a * 64, b * 64, across), bottom = warp_mix_1(c * 64, d * 64, across);
  return (warp_mix_1(top, bottom, down) + 32) >> 6;
}

// 16 bits: across in signed 16 x 16 bits, down in 32 bits in units of 1/2.
UPRIGHT_INLINE int warp_bilinear_2(int a, int b, int c, int d, int across, int down) {
  enum { BIAS = 1 << 15, ONE = 1 << WARP_WEIGHT_BITS_2, ROUND = 1 << (WARP_WEIGHT_BITS_2 - 2) };
  const int rest = ONE - across;
  const int top = ((a - BIAS) * rest + (b - BIAS) * across + ROUND) >> (WARP_WEIGHT_BITS_2 - 1);
  const int bottom = ((c - BIAS) * rest + (d - BIAS) * across + ROUND) >> (WARP_WEIGHT_BITS_2 - 1);
  return ((top * ONE + (bottom - top) * down + ONE) >> (WARP_WEIGHT_BITS_2 + 1)) + BIAS;
}

UPRIGHT_INLINE int warp_component(const uint8_t *row, size_t index, size_t size) {
  if (size == 1) return row[index];
  uint16_t value;
  __builtin_memcpy(&value, row + 2 * index, 2);
  return value;
}

// Writes one element with all its components to `to`.
UPRIGHT_INLINE void warp_element(uint8_t *to, const uint8_t *src, ptrdiff_t src_stride,
                                 size_t src_width, size_t src_height, int64_t u, int64_t v,
                                 size_t components, size_t component_size) {
  int across, down;
  const size_t x = warp_index(u, src_width, component_size, &across);
  const size_t y = warp_index(v, src_height, component_size, &down);
  const size_t right = x + (x + 1 < src_width), below = y + (y + 1 < src_height);
  const uint8_t *top = upright_const_row(src, src_stride, y);
  const uint8_t *bottom = upright_const_row(src, src_stride, below);
  for (size_t i = 0; i < components; i++) {
    const int a = warp_component(top, x * components + i, component_size);
    const int b = warp_component(top, right * components + i, component_size);
    const int c = warp_component(bottom, x * components + i, component_size);
    const int d = warp_component(bottom, right * components + i, component_size);
    if (component_size == 1) {
      to[i] = (uint8_t)warp_bilinear_1(a, b, c, d, across, down);
    } else {
      const uint16_t value = (uint16_t)warp_bilinear_2(a, b, c, d, across, down);
      __builtin_memcpy(to + 2 * i, &value, 2);
    }
  }
}

// Levels that draw rows: a step draws lanes of 8 bytes of the destination. Neighbours in a row of the
// destination map to neighbours in the source, on few rows if the rotation is small. A lane picks its samples
// from 16 bytes of each of those rows.

// The most rows of upper neighbours: a place in 8 times 16 bytes has 7 bits.
enum { WARP_MOST_ROWS = 8 };

UPRIGHT_INLINE int64_t warp_magnitude(int64_t value) { return value < 0 ? -value : value; }

UPRIGHT_INLINE int64_t warp_within(int64_t value, int64_t last) {
  return value < 0 ? 0 : value > last ? last : value;
}

// Returns whether a row with these steps can be drawn: a lane's samples must be in 16 bytes of few rows.
UPRIGHT_INLINE int warp_is_drawable(int64_t ux, int64_t vx, int size) {
  const int steps = 8 / size - 1;
  return warp_magnitude(ux) <= 2 * WARP_ONE &&
         steps * warp_magnitude(vx) <= (WARP_MOST_ROWS - 1) * WARP_ONE;
}

// Returns the number of source rows that a lane's upper neighbours may be on.
UPRIGHT_INLINE int warp_rows_of(const upright_warp_map *map, int size) {
  const int steps = 8 / size - 1;
  return (int)((steps * warp_magnitude(map->vx) + WARP_ONE - 1) >> WARP_BITS) + 1;
}

// Returns the distance from the bytes that a step loads to those that the step some rows below will load.
UPRIGHT_INLINE ptrdiff_t warp_ahead(const upright_warp_map *map, ptrdiff_t src_stride, int size) {
  enum { ROWS = 16 };
  return ((ROWS * map->vy) >> WARP_BITS) * src_stride + ((ROWS * map->uy) >> WARP_BITS) * size;
}

// Prefetches the source for a later row. A rotated row crosses the source's rows in steps, which no hardware
// prefetcher follows: from memory this is three times as fast, on x86-64. The address may be outside the
// source, where the prefetch does nothing.
UPRIGHT_INLINE void warp_prefetch(const uint8_t *from, ptrdiff_t ahead) {
  __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)ahead), 0, 3);
}
