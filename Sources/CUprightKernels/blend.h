// Blending: simple loops that the compiler vectorizes, once for each level's registers, and the kernels that
// call these, or a level's own loops, row by row.
#pragma once

#include "levels.h"

#define UPRIGHT_BLEND                                                                 \
  uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a, ptrdiff_t a_stride,           \
      const uint8_t *b, ptrdiff_t b_stride, unsigned weight, size_t width, size_t height
#define UPRIGHT_COMPOSITE                                                             \
  uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,       \
      const uint8_t *alpha, ptrdiff_t alpha_stride, size_t width, size_t height

// The destination is read and written at the same index, or doesn't overlap the sources: the iterations are
// independent. Without optimization, or with a sanitizer, the loops aren't vectorized, which is no reason for
// a warning.
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")

// Components of 2 bytes need not be aligned.
typedef uint16_t __attribute__((aligned(1), may_alias)) upright_word;

// Weights in 1/256, rounded to the nearest.
UPRIGHT_INLINE void plain_blend_1(uint8_t *to, const uint8_t *a, const uint8_t *b,
                                  unsigned weight, size_t count) {
  INDEPENDENT for (size_t x = 0; x < count; x++) {
    to[x] = (uint8_t)((a[x] * (256 - weight) + b[x] * weight + 128) >> 8);
  }
}

UPRIGHT_INLINE void plain_blend_2(upright_word *to, const upright_word *a, const upright_word *b,
                                  unsigned weight, size_t count) {
  INDEPENDENT for (size_t x = 0; x < count; x++) {
    to[x] = (uint16_t)((a[x] * (256 - weight) + b[x] * weight + 128) >> 8);
  }
}

// Alpha in 1/255, rounded to the nearest.
UPRIGHT_INLINE uint8_t over_1(uint8_t under, uint8_t over, uint8_t alpha) {
  // No sum exceeds 16 bits.
  const uint16_t sum = (uint16_t)(over * alpha + under * (uint8_t)~alpha + 127);
  return (uint8_t)(sum / 255);
}

UPRIGHT_INLINE uint16_t over_2(uint16_t under, uint16_t over, uint8_t alpha) {
  const uint32_t sum = (uint32_t)over * alpha + (uint32_t)under * (255u - alpha) + 127;
  return (uint16_t)(sum / 255);
}

UPRIGHT_INLINE void plain_composite_1(uint8_t *to, const uint8_t *from, const uint8_t *alpha,
                                      size_t count) {
  INDEPENDENT for (size_t x = 0; x < count; x++) to[x] = over_1(to[x], from[x], alpha[x]);
}

UPRIGHT_INLINE void plain_composite_2(upright_word *to, const upright_word *from,
                                      const uint8_t *alpha, size_t count) {
  INDEPENDENT for (size_t x = 0; x < count; x++) to[x] = over_2(to[x], from[x], alpha[x]);
}

// Writes each alpha value twice, for the two components that share it.
UPRIGHT_INLINE void double_alpha(uint8_t *to, const uint8_t *alpha, size_t count) {
  INDEPENDENT for (size_t x = 0; x < count; x++) to[2 * x] = to[2 * x + 1] = alpha[x];
}

#define UPRIGHT_DEFINE_BLEND(ATTRIBUTE, LOOPS, SIZE)                                          \
  ATTRIBUTE static void blend_##SIZE(UPRIGHT_BLEND) {                                         \
    for (size_t y = 0; y < height; y++) {                                                     \
      LOOPS##_blend_##SIZE((void *)upright_row(dst, dst_stride, y),                           \
                           (const void *)upright_const_row(a, a_stride, y),                   \
                           (const void *)upright_const_row(b, b_stride, y), weight, width);   \
    }                                                                                         \
  }

#define UPRIGHT_DEFINE_COMPOSITE(ATTRIBUTE, LOOPS, SIZE)                                      \
  ATTRIBUTE static void composite_1x##SIZE(UPRIGHT_COMPOSITE) {                               \
    for (size_t y = 0; y < height; y++) {                                                     \
      LOOPS##_composite_##SIZE((void *)upright_row(dst, dst_stride, y),                       \
                               (const void *)upright_const_row(src, src_stride, y),           \
                               upright_const_row(alpha, alpha_stride, y), width);             \
    }                                                                                         \
  }                                                                                           \
  ATTRIBUTE static void composite_2x##SIZE(UPRIGHT_COMPOSITE) {                               \
    enum { PART = 512 };                                                                      \
    uint8_t twice[2 * PART];                                                                  \
    for (size_t y = 0; y < height; y++) {                                                     \
      uint8_t *to = upright_row(dst, dst_stride, y);                                          \
      const uint8_t *from = upright_const_row(src, src_stride, y);                            \
      const uint8_t *row = upright_const_row(alpha, alpha_stride, y);                         \
      for (size_t x = 0; x < width; x += PART) {                                              \
        const size_t count = upright_min(width - x, PART);                                    \
        double_alpha(twice, row + x, count);                                                  \
        LOOPS##_composite_##SIZE((void *)(to + 2 * x * SIZE),                                 \
                                 (const void *)(from + 2 * x * SIZE), twice, 2 * count);      \
      }                                                                                       \
    }                                                                                         \
  }

// Defines the kernels of one level. `LOOPS` is `plain`, or the prefix of the level's own loops over a row.
#define UPRIGHT_DEFINE_BLENDS(ATTRIBUTE, LOOPS)  \
  UPRIGHT_DEFINE_BLEND(ATTRIBUTE, LOOPS, 1)      \
  UPRIGHT_DEFINE_BLEND(ATTRIBUTE, LOOPS, 2)      \
  UPRIGHT_DEFINE_COMPOSITE(ATTRIBUTE, LOOPS, 1)  \
  UPRIGHT_DEFINE_COMPOSITE(ATTRIBUTE, LOOPS, 2)

#define UPRIGHT_SET_BLENDS(TABLE)              \
  do {                                         \
    (TABLE)->blend[1] = blend_1;               \
    (TABLE)->blend[2] = blend_2;               \
    (TABLE)->composite[1][1] = composite_1x1;  \
    (TABLE)->composite[2][1] = composite_2x1;  \
    (TABLE)->composite[1][2] = composite_1x2;  \
    (TABLE)->composite[2][2] = composite_2x2;  \
  } while (0)
