// The kernels that each CPU level puts into the table. A level overwrites only those that it improves on, and
// passes planes that are too small for it to the next level below.
#pragma once

#include "CUprightKernels.h"

// Returns the levels that both `mask` and the CPU have, without those that lack a level below them.
uint32_t upright_usable_levels(uint32_t mask);

void upright_init_reference(upright_kernels *table);
void upright_init_warp_reference(upright_kernels *table);
void upright_init_blend_reference(upright_kernels *table);

#if defined(__x86_64__)
void upright_init_sse2(upright_kernels *table);
void upright_init_avx2(upright_kernels *table);
void upright_init_warp_avx2(upright_kernels *table);
void upright_init_blend_avx2(upright_kernels *table);
#elif defined(__aarch64__)
void upright_init_neon(upright_kernels *table);
void upright_init_warp_neon(upright_kernels *table);
void upright_init_blend_neon(upright_kernels *table);
#endif

// The parameters that all kernels of a kind share.
#define UPRIGHT_PLANE uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride
#define UPRIGHT_JOIN                                                                  \
  uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, \
      ptrdiff_t b_stride
#define UPRIGHT_SPLIT                                                                  \
  uint8_t *a, ptrdiff_t a_stride, uint8_t *b, ptrdiff_t b_stride, const uint8_t *src, \
      ptrdiff_t src_stride

#define UPRIGHT_DECLARE_PLANES(SIZE, LEVEL)                                            \
  void upright_mirror_##SIZE##_##LEVEL(UPRIGHT_PLANE, size_t width, size_t height);    \
  void upright_transpose_##SIZE##_##LEVEL(UPRIGHT_PLANE, size_t width, size_t height);
#define UPRIGHT_DECLARE_PAIRS(SIZE, LEVEL)                                             \
  void upright_interleave_##SIZE##_##LEVEL(UPRIGHT_JOIN, size_t width, size_t height); \
  void upright_deinterleave_##SIZE##_##LEVEL(UPRIGHT_SPLIT, size_t width, size_t height);
#define UPRIGHT_DECLARE_LEVEL(LEVEL) \
  UPRIGHT_DECLARE_PLANES(1, LEVEL)   \
  UPRIGHT_DECLARE_PLANES(2, LEVEL)   \
  UPRIGHT_DECLARE_PLANES(4, LEVEL)   \
  UPRIGHT_DECLARE_PAIRS(1, LEVEL)    \
  UPRIGHT_DECLARE_PAIRS(2, LEVEL)

UPRIGHT_DECLARE_LEVEL(c)
UPRIGHT_DECLARE_LEVEL(sse2)
UPRIGHT_DECLARE_LEVEL(avx2)
UPRIGHT_DECLARE_LEVEL(neon)
UPRIGHT_DECLARE_PLANES(3, c)

#define UPRIGHT_SET_PLANES(TABLE, SIZE, LEVEL)                                         \
  ((TABLE)->mirror[SIZE] = upright_mirror_##SIZE##_##LEVEL,                            \
   (TABLE)->transpose[SIZE] = upright_transpose_##SIZE##_##LEVEL,                      \
   (TABLE)->transpose_streamed[SIZE] = upright_transpose_##SIZE##_##LEVEL)
#define UPRIGHT_SET_PAIRS(TABLE, SIZE, LEVEL)                                          \
  ((TABLE)->interleave[SIZE] = upright_interleave_##SIZE##_##LEVEL,                    \
   (TABLE)->deinterleave[SIZE] = upright_deinterleave_##SIZE##_##LEVEL)
// Sets all the kernels of a level that are declared above.
#define UPRIGHT_SET_LEVEL(TABLE, LEVEL)                                                \
  (UPRIGHT_SET_PLANES(TABLE, 1, LEVEL), UPRIGHT_SET_PLANES(TABLE, 2, LEVEL),           \
   UPRIGHT_SET_PLANES(TABLE, 4, LEVEL), UPRIGHT_SET_PAIRS(TABLE, 1, LEVEL),            \
   UPRIGHT_SET_PAIRS(TABLE, 2, LEVEL))

#define UPRIGHT_INLINE static inline __attribute__((always_inline))

// Returns row `y` of a plane.
UPRIGHT_INLINE uint8_t *upright_row(uint8_t *base, ptrdiff_t stride, size_t y) {
  return base + (ptrdiff_t)y * stride;
}

UPRIGHT_INLINE const uint8_t *upright_const_row(const uint8_t *base, ptrdiff_t stride, size_t y) {
  return base + (ptrdiff_t)y * stride;
}

UPRIGHT_INLINE size_t upright_min(size_t a, size_t b) { return a < b ? a : b; }
