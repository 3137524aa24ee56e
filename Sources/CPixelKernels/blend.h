// Blending: the arithmetic of one component, and a row of them for the levels above to end with.
#pragma once

#include "levels.h"

// Parts of 256; rounds to the nearest.
UPRIGHT_INLINE uint32_t blend_component(uint32_t a, uint32_t b, uint32_t weight) {
  return (a * (256 - weight) + b * weight + 128) >> 8;
}

// Parts of 255; rounds to the nearest.
UPRIGHT_INLINE uint32_t composite_component(uint32_t under, uint32_t over, uint32_t alpha) {
  return (over * alpha + under * (255 - alpha) + 127) / 255;
}

#define UPRIGHT_BLEND                                                                 \
  uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a, ptrdiff_t a_stride,           \
      const uint8_t *b, ptrdiff_t b_stride, unsigned weight, size_t width, size_t height
#define UPRIGHT_COMPOSITE                                                             \
  uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,       \
      const uint8_t *alpha, ptrdiff_t alpha_stride, size_t width, size_t height

// Components [x, count) of a row. `size` (of a component) and `components` are constants.
UPRIGHT_INLINE void blend_rest(uint8_t *to, const uint8_t *a, const uint8_t *b, uint32_t weight,
                               size_t x, size_t count, size_t size) {
  for (; x < count; x++) {
    if (size == 1) {
      to[x] = (uint8_t)blend_component(a[x], b[x], weight);
    } else {
      uint16_t first, second;
      __builtin_memcpy(&first, a + 2 * x, 2);
      __builtin_memcpy(&second, b + 2 * x, 2);
      const uint16_t value = (uint16_t)blend_component(first, second, weight);
      __builtin_memcpy(to + 2 * x, &value, 2);
    }
  }
}

UPRIGHT_INLINE void composite_rest(uint8_t *to, const uint8_t *from, const uint8_t *alpha, size_t x,
                                   size_t count, size_t components, size_t size) {
  for (; x < count; x++) {
    const uint32_t opacity = alpha[x / components];
    if (size == 1) {
      to[x] = (uint8_t)composite_component(to[x], from[x], opacity);
    } else {
      uint16_t under, over;
      __builtin_memcpy(&under, to + 2 * x, 2);
      __builtin_memcpy(&over, from + 2 * x, 2);
      const uint16_t value = (uint16_t)composite_component(under, over, opacity);
      __builtin_memcpy(to + 2 * x, &value, 2);
    }
  }
}
