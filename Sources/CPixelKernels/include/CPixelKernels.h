// Turning, mirroring and re-packing of image planes.
//
// A plane is `width` x `height` elements of 1 to 4 bytes; its rows lie `stride` bytes apart, and a
// stride may be negative (the pointer is always that of the first row's first element). Only those
// elements are read and written: never a byte of padding, never a byte past the last row.
// Source and destination must not overlap. A width or a height of 0 does nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// CPU levels, lowest first. A level is used only together with all the levels below it.
#define UPRIGHT_CPU_SSE2 1u
#define UPRIGHT_CPU_AVX2 2u

// The levels of the running CPU that there are kernels for.
uint32_t upright_cpu_flags(void);

#define UPRIGHT_MAX_ELEMENT_SIZE 4

// Plane to plane. `width` and `height` are the source's, in elements.
typedef void (*upright_plane_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                                 ptrdiff_t src_stride, size_t width, size_t height);

// Two planes to one of pairs: `a` gets the first half of each pair. `width` is in pairs.
typedef void (*upright_interleave_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a,
                                      ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                                      size_t width, size_t height);

// One plane of pairs to two planes. `width` is in pairs.
typedef void (*upright_deinterleave_fn)(uint8_t *a, ptrdiff_t a_stride, uint8_t *b,
                                        ptrdiff_t b_stride, const uint8_t *src,
                                        ptrdiff_t src_stride, size_t width, size_t height);

// The kernels, indexed by element size in bytes (component size for the pairs). Everything else is
// one of these with a negative stride: 180 degrees is `mirror` of the rows in reverse, a quarter
// turn is `transpose` of the rows in reverse or into the rows in reverse.
typedef struct upright_kernels {
  upright_plane_fn copy[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  upright_plane_fn mirror[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  upright_plane_fn transpose[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  // As `transpose`, written around the cache: for planes that do not fit it anyway.
  upright_plane_fn transpose_streamed[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  upright_interleave_fn interleave[3];
  upright_deinterleave_fn deinterleave[3];
  // Planes of at least this many bytes take `transpose_streamed`.
  size_t stream_bytes;
} upright_kernels;

// Fills `table` with the reference, then with each level that `mask` and the CPU both have.
void upright_kernels_init(upright_kernels *table, uint32_t mask);

// Applies one of the eight EXIF orientations (1...8: 6 turns 90 degrees clockwise, 8
// counter-clockwise) to a plane of `width` x `height` elements. For 5...8 the destination has
// `height` x `width` elements.
void upright_turn(const upright_kernels *table, int orientation, size_t element_size, uint8_t *dst,
                  ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, size_t width,
                  size_t height);

// The pair kernels of `component_size` (1 or 2) bytes. `width` is in pairs.
void upright_interleave(const upright_kernels *table, size_t component_size, uint8_t *dst,
                        ptrdiff_t dst_stride, const uint8_t *a, ptrdiff_t a_stride,
                        const uint8_t *b, ptrdiff_t b_stride, size_t width, size_t height);
void upright_deinterleave(const upright_kernels *table, size_t component_size, uint8_t *a,
                          ptrdiff_t a_stride, uint8_t *b, ptrdiff_t b_stride, const uint8_t *src,
                          ptrdiff_t src_stride, size_t width, size_t height);

#ifdef __cplusplus
}
#endif
