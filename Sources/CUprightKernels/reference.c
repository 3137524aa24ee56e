// The scalar kernels. Every other level is checked against them, and they run on CPUs that have no level.
#include <string.h>

#include "levels.h"

// `size` is a constant in every caller, so that memcpy becomes a load and a store.
UPRIGHT_INLINE void mirror_elements(UPRIGHT_PLANE, size_t width, size_t height, size_t size) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *to = upright_row(dst, dst_stride, y);
    const uint8_t *from = upright_const_row(src, src_stride, y);
    for (size_t x = 0; x < width; x++) memcpy(to + x * size, from + (width - 1 - x) * size, size);
  }
}

// In tiles: a column of a whole plane touches a new cache line, and often a new page, per element.
UPRIGHT_INLINE void transpose_elements(UPRIGHT_PLANE, size_t width, size_t height, size_t size) {
  enum { TILE = 32 };
  for (size_t top = 0; top < height; top += TILE) {
    const size_t bottom = upright_min(top + TILE, height);
    for (size_t left = 0; left < width; left += TILE) {
      const size_t right = upright_min(left + TILE, width);
      for (size_t x = left; x < right; x++) {
        uint8_t *to = upright_row(dst, dst_stride, x);
        for (size_t y = top; y < bottom; y++) {
          memcpy(to + y * size, upright_const_row(src, src_stride, y) + x * size, size);
        }
      }
    }
  }
}

UPRIGHT_INLINE void interleave_elements(UPRIGHT_JOIN, size_t width, size_t height, size_t size) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *to = upright_row(dst, dst_stride, y);
    const uint8_t *first = upright_const_row(a, a_stride, y);
    const uint8_t *second = upright_const_row(b, b_stride, y);
    for (size_t x = 0; x < width; x++) {
      memcpy(to + 2 * x * size, first + x * size, size);
      memcpy(to + (2 * x + 1) * size, second + x * size, size);
    }
  }
}

UPRIGHT_INLINE void deinterleave_elements(UPRIGHT_SPLIT, size_t width, size_t height, size_t size) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *first = upright_row(a, a_stride, y);
    uint8_t *second = upright_row(b, b_stride, y);
    const uint8_t *from = upright_const_row(src, src_stride, y);
    for (size_t x = 0; x < width; x++) {
      memcpy(first + x * size, from + 2 * x * size, size);
      memcpy(second + x * size, from + (2 * x + 1) * size, size);
    }
  }
}

// Uses one memcpy if the rows are contiguous, because the C library's copy is the fastest for large blocks.
UPRIGHT_INLINE void copy_rows(UPRIGHT_PLANE, size_t row_bytes, size_t height) {
  if (dst_stride == src_stride && dst_stride > 0 && (size_t)dst_stride == row_bytes) {
    memcpy(dst, src, row_bytes * height);
    return;
  }
  for (size_t y = 0; y < height; y++) {
    memcpy(upright_row(dst, dst_stride, y), upright_const_row(src, src_stride, y), row_bytes);
  }
}

#define PLANE_KERNELS(SIZE)                                                                  \
  static void copy_##SIZE(UPRIGHT_PLANE, size_t width, size_t height) {                      \
    copy_rows(dst, dst_stride, src, src_stride, width * SIZE, height);                       \
  }                                                                                          \
  void upright_mirror_##SIZE##_c(UPRIGHT_PLANE, size_t width, size_t height) {               \
    mirror_elements(dst, dst_stride, src, src_stride, width, height, SIZE);                  \
  }                                                                                          \
  void upright_transpose_##SIZE##_c(UPRIGHT_PLANE, size_t width, size_t height) {            \
    transpose_elements(dst, dst_stride, src, src_stride, width, height, SIZE);               \
  }

#define PAIR_KERNELS(SIZE)                                                                   \
  void upright_interleave_##SIZE##_c(UPRIGHT_JOIN, size_t width, size_t height) {            \
    interleave_elements(dst, dst_stride, a, a_stride, b, b_stride, width, height, SIZE);     \
  }                                                                                          \
  void upright_deinterleave_##SIZE##_c(UPRIGHT_SPLIT, size_t width, size_t height) {         \
    deinterleave_elements(a, a_stride, b, b_stride, src, src_stride, width, height, SIZE);   \
  }

PLANE_KERNELS(1)
PLANE_KERNELS(2)
PLANE_KERNELS(3)
PLANE_KERNELS(4)
PAIR_KERNELS(1)
PAIR_KERNELS(2)

#define ALL_SIZES(NAME) {NULL, NAME##_1_c, NAME##_2_c, NAME##_3_c, NAME##_4_c}

void upright_init_reference(upright_kernels *table) {
  *table = (upright_kernels){
      .copy = {NULL, copy_1, copy_2, copy_3, copy_4},
      .mirror = ALL_SIZES(upright_mirror),
      .transpose = ALL_SIZES(upright_transpose),
      .transpose_streamed = ALL_SIZES(upright_transpose),
      .interleave = {NULL, upright_interleave_1_c, upright_interleave_2_c},
      .deinterleave = {NULL, upright_deinterleave_1_c, upright_deinterleave_2_c},
      .stream_bytes = SIZE_MAX,
  };
}
