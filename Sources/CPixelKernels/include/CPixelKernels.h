// Turning, mirroring, re-packing, warping and blending of image planes.
//
// A plane is `width` x `height` elements of 1 to 4 bytes; its rows lie `stride` bytes apart, and a
// stride may be negative (the pointer is always that of the first row's first element). Only those
// elements are read and written: never a byte of padding, never a byte past the last row.
// Source and destination must not overlap, unless said otherwise. A width or a height of 0 does nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "CPixelResample.h"

#ifdef __cplusplus
extern "C" {
#endif

// CPU levels, lowest first. A level is used only together with all the levels below it.
#define UPRIGHT_CPU_SSE2 1u
#define UPRIGHT_CPU_SSE4 2u    // SSE4.1
#define UPRIGHT_CPU_AVX2 4u
#define UPRIGHT_CPU_AVX512 8u  // F, BW, VL, DQ and VNNI

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

// Where the samples of a warped plane come from: the centre of the destination's element (x, y) lies
// at (u + x * ux + y * uy, v + x * vx + y * vy) of the source, in continuous coordinates (the first
// sample's centre lies at a half) with UPRIGHT_WARP_FRACTION_BITS fraction bits.
typedef struct upright_warp_map {
  int64_t u, ux, uy, v, vx, vy;
} upright_warp_map;

#define UPRIGHT_WARP_FRACTION_BITS 28
// What holds the arithmetic inside 64 bits: whatever lies beyond is not drawn at all. The sides of
// both planes; the whole part of the four steps; the whole part of `u` and `v`.
#define UPRIGHT_WARP_MAX_SIDE (1 << 24)
#define UPRIGHT_WARP_MAX_STEP 256
#define UPRIGHT_WARP_MAX_START 17179869184LL  // 2^34; Swift imports no shift of a cast

typedef void (*upright_warp_fn)(uint8_t *dst, ptrdiff_t dst_stride, size_t dst_width,
                                size_t dst_height, const uint8_t *src, ptrdiff_t src_stride,
                                size_t src_width, size_t src_height, const upright_warp_map *map);

// `weight` (0...256) parts of `b`, the rest of `a`; `dst` may be either. `width` is in components.
typedef void (*upright_blend_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a,
                                 ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                                 unsigned weight, size_t width, size_t height);

// `src` over `dst`; one byte of `alpha` an element.
typedef void (*upright_composite_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                                     ptrdiff_t src_stride, const uint8_t *alpha,
                                     ptrdiff_t alpha_stride, size_t width, size_t height);

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
  // By component size, or by components in an element and their size.
  upright_warp_fn warp[3][3];
  upright_blend_fn blend[3];
  upright_composite_fn composite[3][3];
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

// Draws the source, warped by `map`, over the destination: elements whose centres lie outside the
// source are left as they are. Elements of 1 or 2 components of 1 or 2 bytes.
void upright_warp(const upright_kernels *table, size_t components, size_t component_size,
                  uint8_t *dst, ptrdiff_t dst_stride, size_t dst_width, size_t dst_height,
                  const uint8_t *src, ptrdiff_t src_stride, size_t src_width, size_t src_height,
                  const upright_warp_map *map);

void upright_blend(const upright_kernels *table, size_t component_size, uint8_t *dst,
                   ptrdiff_t dst_stride, const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                   ptrdiff_t b_stride, unsigned weight, size_t width, size_t height);
void upright_composite(const upright_kernels *table, size_t components, size_t component_size,
                       uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride,
                       const uint8_t *alpha, ptrdiff_t alpha_stride, size_t width, size_t height);

#ifdef __cplusplus
}
#endif
