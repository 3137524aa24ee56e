// Rotation, mirroring, re-packing, warping and blending of image planes.
//
// A plane has `width` x `height` elements of 1 to 4 bytes. Its rows are `stride` bytes apart, and a stride
// may be negative (the pointer is always that of the first row's first element). Only those elements are read
// and written: no byte of padding, no byte past the last row. Source and destination must not overlap unless
// stated otherwise. A width or a height of 0 does nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "CPixelResample.h"

#ifdef __cplusplus
extern "C" {
#endif

// The CPU levels of an architecture, lowest first. A level is used only together with all the levels below it.
// x86-64:
#define UPRIGHT_CPU_SSE2 1u
#define UPRIGHT_CPU_SSE4 2u    // SSE4.1
#define UPRIGHT_CPU_AVX2 4u
#define UPRIGHT_CPU_AVX512 8u  // F, BW, VL, DQ and VNNI
// aarch64:
#define UPRIGHT_CPU_NEON 16u

// Returns the levels of the running CPU that have kernels.
uint32_t upright_cpu_flags(void);

#define UPRIGHT_MAX_ELEMENT_SIZE 4

// A kernel from plane to plane. `width` and `height` are the source's, in elements.
typedef void (*upright_plane_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                                 ptrdiff_t src_stride, size_t width, size_t height);

// Writes two planes as one plane of pairs: `a` has the first component of each pair. `width` is in pairs.
typedef void (*upright_interleave_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a,
                                      ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                                      size_t width, size_t height);

// Writes one plane of pairs as two planes. `width` is in pairs.
typedef void (*upright_deinterleave_fn)(uint8_t *a, ptrdiff_t a_stride, uint8_t *b,
                                        ptrdiff_t b_stride, const uint8_t *src,
                                        ptrdiff_t src_stride, size_t width, size_t height);

// Maps the elements of a warped plane to the source. The centre of the destination's element (x, y) is at (u
// + x * ux + y * uy, v + x * vx + y * vy) of the source, in continuous coordinates (the first sample's centre
// is at a half) with UPRIGHT_WARP_FRACTION_BITS fraction bits.
typedef struct upright_warp_map {
  int64_t u, ux, uy, v, vx, vy;
} upright_warp_map;

#define UPRIGHT_WARP_FRACTION_BITS 28
// The limits that keep the arithmetic inside 64 bits; nothing is drawn beyond them: the sides of both planes;
// the integer part of the four steps; the integer part of `u` and `v`.
#define UPRIGHT_WARP_MAX_SIDE (1 << 24)
#define UPRIGHT_WARP_MAX_STEP 256
#define UPRIGHT_WARP_MAX_START 17179869184LL  // 2^34; Swift can't import a shift of a cast

typedef void (*upright_warp_fn)(uint8_t *dst, ptrdiff_t dst_stride, size_t dst_width,
                                size_t dst_height, const uint8_t *src, ptrdiff_t src_stride,
                                size_t src_width, size_t src_height, const upright_warp_map *map);

// Blends `weight`/256 (0...256) of `b` and the rest of `a`. `dst` may be either. `width` is in components.
typedef void (*upright_blend_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *a,
                                 ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                                 unsigned weight, size_t width, size_t height);

// Draws `src` over `dst`, with one byte of `alpha` per element.
typedef void (*upright_composite_fn)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *src,
                                     ptrdiff_t src_stride, const uint8_t *alpha,
                                     ptrdiff_t alpha_stride, size_t width, size_t height);

// The kernels, indexed by element size in bytes (component size for the pairs). All other operations are one
// of these with a negative stride: 180 degrees is `mirror` of the rows in reverse, a quarter turn is
// `transpose` of the rows in reverse or to the rows in reverse.
typedef struct upright_kernels {
  upright_plane_fn copy[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  upright_plane_fn mirror[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  upright_plane_fn transpose[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  // As `transpose`, bypassing the cache, for planes that don't fit it.
  upright_plane_fn transpose_streamed[UPRIGHT_MAX_ELEMENT_SIZE + 1];
  upright_interleave_fn interleave[3];
  upright_deinterleave_fn deinterleave[3];
  // Indexed by component size, or by components in an element and their size.
  upright_warp_fn warp[3][3];
  upright_blend_fn blend[3];
  upright_composite_fn composite[3][3];
  // The size in bytes from which planes use `transpose_streamed`.
  size_t stream_bytes;
} upright_kernels;

// Fills `table` with the reference, then with each level that both `mask` and the CPU have.
void upright_kernels_init(upright_kernels *table, uint32_t mask);

// Applies one of the eight EXIF orientations (1...8: 6 rotates 90 degrees clockwise, 8 counter-clockwise) to
// a plane of `width` x `height` elements. For 5...8 the destination has `height` x `width` elements.
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

// Draws the source, warped by `map`, over the destination. Elements whose centres map outside the source keep
// their values. Elements have 1 or 2 components of 1 or 2 bytes.
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

// The samples of one component in a plane: the first one, bytes between rows, bytes between samples.
typedef struct upright_samples {
  uint8_t *first;
  ptrdiff_t stride;
  ptrdiff_t step;
} upright_samples;

// Copies samples of a byte from one place to another.
void upright_copy_samples(upright_samples to, upright_samples from, size_t width, size_t height);

// What red, green and blue are of Y, Cb and Cr, with 16 fraction bits: (y - offset) * luma, then of 128 less chroma.
typedef struct upright_rgb_matrix {
  int32_t offset, luma, red_of_cr, green_of_cb, green_of_cr, blue_of_cb;
} upright_rgb_matrix;

// Writes triples of red, green and blue. A sample of chroma is for all pixels of its 2^shift_x times 2^shift_y. Without
// chroma (`first` is NULL) they are grey.
void upright_rgb_of_yuv(upright_samples to, upright_samples luma, upright_samples cb, upright_samples cr, int shift_x,
                        int shift_y, const upright_rgb_matrix *matrix, size_t width, size_t height);

#ifdef __cplusplus
}
#endif
