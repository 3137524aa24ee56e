// The scalar kernels: what every other level is checked against, and what runs on CPUs without a
// level of their own (aarch64 among them, so far).
#include <string.h>

#include "levels.h"

#define INLINE static inline __attribute__((always_inline))

// `size` is a constant in every caller, so that memcpy becomes a load and a store.
INLINE void mirror_elements(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                            ptrdiff_t src_stride, size_t width, size_t height, size_t size) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *to = upright_row(dst, dst_stride, y);
    const uint8_t *from = upright_const_row(src, src_stride, y);
    for (size_t x = 0; x < width; x++) memcpy(to + x * size, from + (width - 1 - x) * size, size);
  }
}

// In tiles: a column of a whole plane touches a new cache line, and often a new page, per element.
INLINE void transpose_elements(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                               ptrdiff_t src_stride, size_t width, size_t height, size_t size) {
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

INLINE void interleave_elements(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a,
                                ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                                size_t width, size_t height, size_t size) {
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

INLINE void deinterleave_elements(uint8_t *a, ptrdiff_t a_stride, uint8_t *b, ptrdiff_t b_stride,
                                  const uint8_t *src, ptrdiff_t src_stride, size_t width,
                                  size_t height, size_t size) {
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

// One memcpy where the rows touch: the C library's copy is the best there is for large blocks.
INLINE void copy_rows(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                      size_t row_bytes, size_t height) {
  if (dst_stride == src_stride && dst_stride > 0 && (size_t)dst_stride == row_bytes) {
    memcpy(dst, src, row_bytes * height);
    return;
  }
  for (size_t y = 0; y < height; y++) {
    memcpy(upright_row(dst, dst_stride, y), upright_const_row(src, src_stride, y), row_bytes);
  }
}

#define PLANE_KERNELS(SIZE)                                                                       \
  static void copy_##SIZE(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,                 \
                          ptrdiff_t src_stride, size_t width, size_t height) {                    \
    copy_rows(dst, dst_stride, src, src_stride, width * SIZE, height);                            \
  }                                                                                               \
  static void mirror_##SIZE(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,               \
                            ptrdiff_t src_stride, size_t width, size_t height) {                  \
    mirror_elements(dst, dst_stride, src, src_stride, width, height, SIZE);                       \
  }                                                                                               \
  static void transpose_##SIZE(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,            \
                               ptrdiff_t src_stride, size_t width, size_t height) {               \
    transpose_elements(dst, dst_stride, src, src_stride, width, height, SIZE);                    \
  }

#define PAIR_KERNELS(SIZE)                                                                        \
  static void interleave_##SIZE(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a,             \
                                ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,         \
                                size_t width, size_t height) {                                    \
    interleave_elements(dst, dst_stride, a, a_stride, b, b_stride, width, height, SIZE);          \
  }                                                                                               \
  static void deinterleave_##SIZE(uint8_t *a, ptrdiff_t a_stride, uint8_t *b, ptrdiff_t b_stride, \
                                  const uint8_t *src, ptrdiff_t src_stride, size_t width,         \
                                  size_t height) {                                                \
    deinterleave_elements(a, a_stride, b, b_stride, src, src_stride, width, height, SIZE);        \
  }

PLANE_KERNELS(1)
PLANE_KERNELS(2)
PLANE_KERNELS(3)
PLANE_KERNELS(4)
PAIR_KERNELS(1)
PAIR_KERNELS(2)

void upright_init_reference(upright_kernels *table) {
  *table = (upright_kernels){
      .copy = {NULL, copy_1, copy_2, copy_3, copy_4},
      .mirror = {NULL, mirror_1, mirror_2, mirror_3, mirror_4},
      .transpose = {NULL, transpose_1, transpose_2, transpose_3, transpose_4},
      .transpose_streamed = {NULL, transpose_1, transpose_2, transpose_3, transpose_4},
      .interleave = {NULL, interleave_1, interleave_2},
      .deinterleave = {NULL, deinterleave_1, deinterleave_2},
      .stream_bytes = SIZE_MAX,
  };
}
