// From vectors and blocks to planes. Everything here is inlined into a caller of one CPU level, with
// the sizes and the function pointers constants.
//
// No plane needs a scalar remainder: the last vector of a row, and the last block of a row or column
// of blocks, lies over the one before it. So each wants a plane of at least one vector or block.
#pragma once

#include "levels.h"

// Transposes one block of a constant size; touches nothing else.
typedef void (*upright_block_fn)(UPRIGHT_PLANE);
// Writes one vector in reverse.
typedef void (*upright_reverse_fn)(uint8_t *dst, const uint8_t *src);
// Writes two vectors as pairs; reads two vectors of pairs.
typedef void (*upright_join_fn)(uint8_t *dst, const uint8_t *a, const uint8_t *b);
typedef void (*upright_split_fn)(uint8_t *a, uint8_t *b, const uint8_t *src);

// A tile's side in bytes. The tile in the source and the one in the destination fit the L2 cache
// together, and their rows, each on a page of its own, the TLB.
enum { UPRIGHT_TILE = 256 };

// Blocks of `columns` x `rows` elements, tile by tile, down the columns of each tile: the rows of
// the destination grow from left to right.
UPRIGHT_INLINE void upright_transpose_blocks(UPRIGHT_PLANE, size_t width, size_t height,
                                             size_t element_size, size_t columns, size_t rows,
                                             upright_block_fn block) {
  const size_t side = UPRIGHT_TILE / element_size;
  for (size_t top = 0; top < height; top += side) {
    const size_t bottom = upright_min(top + side, height);
    for (size_t left = 0; left < width; left += side) {
      const size_t right = upright_min(left + side, width);
      for (size_t i = left; i < right; i += columns) {
        const size_t x = upright_min(i, width - columns);
        uint8_t *to = upright_row(dst, dst_stride, x);
        for (size_t j = top; j < bottom; j += rows) {
          const size_t y = upright_min(j, height - rows);
          block(to + y * element_size, dst_stride,
                upright_const_row(src, src_stride, y) + x * element_size, src_stride);
        }
      }
    }
  }
}

// Rows of `row_bytes` bytes, in vectors of `vector` bytes.
UPRIGHT_INLINE void upright_mirror_rows(UPRIGHT_PLANE, size_t row_bytes, size_t height,
                                        size_t vector, upright_reverse_fn reverse) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *to = upright_row(dst, dst_stride, y);
    const uint8_t *from = upright_const_row(src, src_stride, y);
    const size_t last = row_bytes - vector;
    for (size_t i = 0; i < last; i += vector) reverse(to + last - i, from + i);
    reverse(to, from + last);
  }
}

// Rows of `row_bytes` bytes in each of the two planes.
UPRIGHT_INLINE void upright_join_rows(UPRIGHT_JOIN, size_t row_bytes, size_t height, size_t vector,
                                      upright_join_fn join) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *to = upright_row(dst, dst_stride, y);
    const uint8_t *first = upright_const_row(a, a_stride, y);
    const uint8_t *second = upright_const_row(b, b_stride, y);
    const size_t last = row_bytes - vector;
    for (size_t i = 0; i < last; i += vector) join(to + 2 * i, first + i, second + i);
    join(to + 2 * last, first + last, second + last);
  }
}

// Rows of `row_bytes` bytes in each of the two planes.
UPRIGHT_INLINE void upright_split_rows(UPRIGHT_SPLIT, size_t row_bytes, size_t height,
                                       size_t vector, upright_split_fn split) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *first = upright_row(a, a_stride, y);
    uint8_t *second = upright_row(b, b_stride, y);
    const uint8_t *from = upright_const_row(src, src_stride, y);
    const size_t last = row_bytes - vector;
    for (size_t i = 0; i < last; i += vector) split(first + i, second + i, from + 2 * i);
    split(first + last, second + last, from + 2 * last);
  }
}

// The plane kernels of one level, from its vectors and blocks; `BELOW` takes what is too small.
#define UPRIGHT_DEFINE_PLANES(LEVEL, BELOW, TARGET, VECTOR, SIZE, COLUMNS, ROWS)                  \
  TARGET void upright_transpose_##SIZE##_##LEVEL(UPRIGHT_PLANE, size_t width, size_t height) {    \
    if (width < COLUMNS || height < ROWS) {                                                       \
      upright_transpose_##SIZE##_##BELOW(dst, dst_stride, src, src_stride, width, height);        \
      return;                                                                                     \
    }                                                                                             \
    upright_transpose_blocks(dst, dst_stride, src, src_stride, width, height, SIZE, COLUMNS,      \
                             ROWS, block_##SIZE);                                                 \
  }                                                                                               \
  TARGET void upright_mirror_##SIZE##_##LEVEL(UPRIGHT_PLANE, size_t width, size_t height) {       \
    if (width * SIZE < VECTOR) {                                                                  \
      upright_mirror_##SIZE##_##BELOW(dst, dst_stride, src, src_stride, width, height);           \
      return;                                                                                     \
    }                                                                                             \
    upright_mirror_rows(dst, dst_stride, src, src_stride, width * SIZE, height, VECTOR,           \
                        reverse_##SIZE);                                                          \
  }

#define UPRIGHT_DEFINE_PAIRS(LEVEL, BELOW, TARGET, VECTOR, SIZE)                                  \
  TARGET void upright_interleave_##SIZE##_##LEVEL(UPRIGHT_JOIN, size_t width, size_t height) {    \
    if (width * SIZE < VECTOR) {                                                                  \
      upright_interleave_##SIZE##_##BELOW(dst, dst_stride, a, a_stride, b, b_stride, width,       \
                                          height);                                                \
      return;                                                                                     \
    }                                                                                             \
    upright_join_rows(dst, dst_stride, a, a_stride, b, b_stride, width * SIZE, height, VECTOR,    \
                      join_##SIZE);                                                               \
  }                                                                                               \
  TARGET void upright_deinterleave_##SIZE##_##LEVEL(UPRIGHT_SPLIT, size_t width, size_t height) { \
    if (width * SIZE < VECTOR) {                                                                  \
      upright_deinterleave_##SIZE##_##BELOW(a, a_stride, b, b_stride, src, src_stride, width,     \
                                            height);                                              \
      return;                                                                                     \
    }                                                                                             \
    upright_split_rows(a, a_stride, b, b_stride, src, src_stride, width * SIZE, height, VECTOR,   \
                       split_##SIZE);                                                             \
  }
