// Builds plane kernels from operations on vectors and blocks. Everything here is inlined into a caller of one
// CPU level, with the sizes and the function pointers as constants.
//
// No plane needs a scalar remainder: the last vector of a row, and the last block of a row or column of
// blocks, overlaps the one before it. So each plane must be at least one vector or block large.
#pragma once

#include "levels.h"

// Transposes one block of a constant size. Touches nothing else.
typedef void (*upright_block_fn)(UPRIGHT_PLANE);
// Writes one aligned cache line, bypassing the cache.
typedef void (*upright_line_fn)(uint8_t *dst, const uint8_t *src);
// Writes one vector in reverse.
typedef void (*upright_reverse_fn)(uint8_t *dst, const uint8_t *src);
// Writes two vectors as pairs; reads two vectors of pairs.
typedef void (*upright_join_fn)(uint8_t *dst, const uint8_t *a, const uint8_t *b);
typedef void (*upright_split_fn)(uint8_t *a, uint8_t *b, const uint8_t *src);

// The bytes of a cache line, and of a tile's side. A tile of 64 lines of the source becomes 64 lines of the
// destination, each read and written as a whole while it is in the first-level cache.
enum { UPRIGHT_LINE = 64 };

// Prefetches lines of the tile to the right while the current tile is processed, because the hardware
// prefetcher doesn't detect columns. Past the end of a row this prefetches data that isn't needed or doesn't
// exist: a prefetch never faults, and the address is a number, not a pointer, because it may be outside the
// plane.
UPRIGHT_INLINE void upright_prefetch_lines(const uint8_t *src, ptrdiff_t src_stride, size_t first,
                                           size_t count, size_t ahead) {
  _Pragma("clang loop unroll(full)") for (size_t k = 0; k < count; k++) {
    const uintptr_t address = (uintptr_t)src + (first + k) * (size_t)src_stride + ahead;
    __builtin_prefetch((const void *)address, 0, 3);
  }
}

// Transposes blocks of `columns` x `rows` elements, where `columns` make 16 bytes, tile by tile from left to
// right, so that only the rows of one tile are accessed at a time.
UPRIGHT_INLINE void upright_transpose_blocks(UPRIGHT_PLANE, size_t width, size_t height,
                                             size_t element_size, size_t columns, size_t rows,
                                             upright_block_fn block) {
  const size_t side = UPRIGHT_LINE / element_size;
  for (size_t top = 0; top < height; top += side) {
    const size_t bottom = upright_min(top + side, height);
    for (size_t i = 0; i < width; i += columns) {
      const size_t x = upright_min(i, width - columns);
      // Each of a tile's columns of blocks prefetches its share of the next tile.
      const size_t share = rows * columns / side;
      const size_t lead = i % side;
      for (size_t j = top; j < bottom; j += rows) {
        const size_t y = upright_min(j, height - rows);
        const uint8_t *from = upright_const_row(src, src_stride, y) + x * element_size;
        upright_prefetch_lines(from, src_stride, lead / columns * share, share,
                               UPRIGHT_LINE - lead * element_size);
        block(upright_row(dst, dst_stride, x) + y * element_size, dst_stride, from, src_stride);
      }
    }
  }
}

// As above, for a destination that bypasses the cache. Each tile is transposed into a stage and written from
// there in whole lines; only whole lines are faster without the cache than with it. `plain` transposes the
// rows of the source that don't make whole lines, and planes whose lines aren't aligned alike.
UPRIGHT_INLINE void upright_transpose_streamed(UPRIGHT_PLANE, size_t width, size_t height,
                                               size_t element_size, size_t columns, size_t rows,
                                               upright_block_fn block, upright_line_fn write,
                                               upright_plane_fn plain) {
  const size_t side = UPRIGHT_LINE / element_size;
  const size_t phase = (size_t)(0 - (uintptr_t)dst) % UPRIGHT_LINE;
  const size_t head = phase / element_size;
  const int aligned = (size_t)dst_stride % UPRIGHT_LINE == 0 && phase % element_size == 0;
  if (!aligned || width < side || height < head + side) {
    plain(dst, dst_stride, src, src_stride, width, height);
    return;
  }
  if (head > 0) plain(dst, dst_stride, src, src_stride, width, head);
  const size_t end = head + (height - head) / side * side;
  if (end < height) {
    plain(dst + end * element_size, dst_stride, upright_const_row(src, src_stride, end),
          src_stride, width, height - end);
  }

  _Alignas(UPRIGHT_LINE) uint8_t stage[UPRIGHT_LINE * UPRIGHT_LINE];
  for (size_t y = head; y < end; y += side) {
    for (size_t i = 0; i < width; i += side) {
      const size_t x = upright_min(i, width - side);
      const uint8_t *from = upright_const_row(src, src_stride, y) + x * element_size;
      for (size_t k = 0; k < side; k += columns) {
        // Two tiles ahead, because memory has a longer latency than the cache.
        upright_prefetch_lines(from, src_stride, k, columns, 2 * UPRIGHT_LINE);
        for (size_t j = 0; j < side; j += rows) {
          block(stage + k * UPRIGHT_LINE + j * element_size, UPRIGHT_LINE,
                upright_const_row(from, src_stride, j) + k * element_size, src_stride);
        }
        for (size_t j = k; j < k + columns; j++) {
          write(upright_row(dst, dst_stride, x + j) + y * element_size, stage + j * UPRIGHT_LINE);
        }
      }
    }
  }
}

// Mirrors rows of `row_bytes` bytes, in vectors of `vector` bytes. The source is read in one direction, which
// the hardware prefetcher follows: from the last byte to the first if the rows are taken from the last to the
// first.
UPRIGHT_INLINE void upright_mirror_rows(UPRIGHT_PLANE, size_t row_bytes, size_t height,
                                        size_t vector, upright_reverse_fn reverse) {
  const size_t last = row_bytes - vector;
  for (size_t y = 0; y < height; y++) {
    uint8_t *to = upright_row(dst, dst_stride, y);
    const uint8_t *from = upright_const_row(src, src_stride, y);
    if (src_stride < 0) {
      for (size_t i = 0; i < last; i += vector) reverse(to + i, from + last - i);
      reverse(to + last, from);
    } else {
      for (size_t i = 0; i < last; i += vector) reverse(to + last - i, from + i);
      reverse(to, from + last);
    }
  }
}

// Interleaves rows of `row_bytes` bytes in each of the two planes.
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

// Deinterleaves into rows of `row_bytes` bytes in each of the two planes.
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

// Defines the plane kernels of one level from its vectors and blocks. `BELOW` is the level for planes that
// are too small.
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

// Streaming stores aren't ordered with other stores. The fence orders them before the store that tells
// another thread that the plane is complete.
#define UPRIGHT_DEFINE_STREAMED(LEVEL, TARGET, SIZE, COLUMNS, ROWS)                               \
  TARGET static void transpose_streamed_##SIZE(UPRIGHT_PLANE, size_t width, size_t height) {      \
    upright_transpose_streamed(dst, dst_stride, src, src_stride, width, height, SIZE, COLUMNS,    \
                               ROWS, block_##SIZE, write_line,                                    \
                               upright_transpose_##SIZE##_##LEVEL);                               \
    _mm_sfence();                                                                                 \
  }
