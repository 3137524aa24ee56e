// NEON kernels, for every aarch64 CPU. None has stores that bypass the cache, so `transpose_streamed` is the
// same as `transpose`.
#if defined(__aarch64__)

#include <arm_neon.h>

#include "planes.h"

#define UNROLL _Pragma("clang loop unroll(full)")

// Transposes. Each step interleaves rows that are half a block apart. After log2(rows) steps the registers
// are the columns, in order. A block of 16 x 16 bytes fits the 32 registers.
#define BLOCK(SIZE, BITS, ROWS, STEPS)                                                \
  UPRIGHT_INLINE void block_##SIZE(UPRIGHT_PLANE) {                                   \
    uint##BITS##x##ROWS##_t a[ROWS], b[ROWS];                                         \
    UNROLL for (int i = 0; i < ROWS; i++) {                                           \
      a[i] = (uint##BITS##x##ROWS##_t)vld1q_u8(src + i * src_stride);                 \
    }                                                                                 \
    UNROLL for (int step = 0; step < STEPS; step++) {                                 \
      UNROLL for (int i = 0; i < ROWS / 2; i++) {                                     \
        b[2 * i] = vzip1q_u##BITS(a[i], a[i + ROWS / 2]);                             \
        b[2 * i + 1] = vzip2q_u##BITS(a[i], a[i + ROWS / 2]);                         \
      }                                                                               \
      UNROLL for (int i = 0; i < ROWS; i++) a[i] = b[i];                              \
    }                                                                                 \
    UNROLL for (int i = 0; i < ROWS; i++) vst1q_u8(dst + i * dst_stride, (uint8x16_t)a[i]); \
  }

BLOCK(1, 8, 16, 4)
BLOCK(2, 16, 8, 3)
BLOCK(4, 32, 4, 2)

// Mirrors.

UPRIGHT_INLINE uint8x16_t swapped_halves(uint8x16_t v) { return vextq_u8(v, v, 8); }

UPRIGHT_INLINE void reverse_1(uint8_t *dst, const uint8_t *src) {
  vst1q_u8(dst, swapped_halves(vrev64q_u8(vld1q_u8(src))));
}

UPRIGHT_INLINE void reverse_2(uint8_t *dst, const uint8_t *src) {
  const uint16x8_t v = vrev64q_u16((uint16x8_t)vld1q_u8(src));
  vst1q_u8(dst, swapped_halves((uint8x16_t)v));
}

UPRIGHT_INLINE void reverse_4(uint8_t *dst, const uint8_t *src) {
  const uint32x4_t v = vrev64q_u32((uint32x4_t)vld1q_u8(src));
  vst1q_u8(dst, swapped_halves((uint8x16_t)v));
}

// Pairs.

#define PAIRS(SIZE, BITS, LANES)                                                      \
  UPRIGHT_INLINE void join_##SIZE(uint8_t *dst, const uint8_t *a, const uint8_t *b) { \
    const uint##BITS##x##LANES##_t first = (uint##BITS##x##LANES##_t)vld1q_u8(a);     \
    const uint##BITS##x##LANES##_t second = (uint##BITS##x##LANES##_t)vld1q_u8(b);    \
    vst1q_u8(dst, (uint8x16_t)vzip1q_u##BITS(first, second));                         \
    vst1q_u8(dst + 16, (uint8x16_t)vzip2q_u##BITS(first, second));                    \
  }                                                                                   \
  UPRIGHT_INLINE void split_##SIZE(uint8_t *a, uint8_t *b, const uint8_t *src) {      \
    const uint##BITS##x##LANES##_t low = (uint##BITS##x##LANES##_t)vld1q_u8(src);     \
    const uint##BITS##x##LANES##_t high = (uint##BITS##x##LANES##_t)vld1q_u8(src + 16); \
    vst1q_u8(a, (uint8x16_t)vuzp1q_u##BITS(low, high));                               \
    vst1q_u8(b, (uint8x16_t)vuzp2q_u##BITS(low, high));                               \
  }

PAIRS(1, 8, 16)
PAIRS(2, 16, 8)

UPRIGHT_DEFINE_PLANES(neon, c, , 16, 1, 16, 16)
UPRIGHT_DEFINE_PLANES(neon, c, , 16, 2, 8, 8)
UPRIGHT_DEFINE_PLANES(neon, c, , 16, 4, 4, 4)
UPRIGHT_DEFINE_PAIRS(neon, c, , 16, 1)
UPRIGHT_DEFINE_PAIRS(neon, c, , 16, 2)

void upright_init_neon(upright_kernels *table) { UPRIGHT_SET_LEVEL(table, neon); }

#endif
