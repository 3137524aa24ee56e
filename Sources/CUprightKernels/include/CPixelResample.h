// Rotation and scaling in one pass: the frame is processed in tiles that fit the first-level cache, without
// an intermediate frame between the rotation and the scaling.
//
// A resampling is separable: one filter down the source's columns, one across its rows. Coefficients have 14
// fraction bits and add up to 2^14, so a flat area keeps its value. Every level computes exactly, for samples
// of one byte (their depth is 8),
//
//   t = sum of (((x[k] - 128) * down[k] + 64) >> 7)
//   o = clamp to 0...255(((sum of t[k] * across[k] + 2^20) >> 21) + 128)
//
// and for samples of two bytes, of `d` bits with `s` unused bits below them,
//
//   x = min(sample >> s, 2^d - 1)
//   t = clamp to 16 bits((sum of x[k] * down[k] + 2^(d - 1)) >> d)
//   o = clamp to 0...2^d - 1((sum of t[k] * across[k] + 2^(27 - d)) >> (28 - d)) << s
//
// so that values between the filters have 7, or 14 - d, bits more than the samples.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The fraction bits of a coefficient.
#define UPRIGHT_FILTER_BITS 14
// The largest bit depth of a sample. It leaves two fraction bits.
#define UPRIGHT_RESAMPLE_MAX_DEPTH 12

// The filter of every output sample along one axis of the source, in the order of the destination.
//
// Output `i` is the sum of counts[i] samples from starts[i] on, each multiplied by the coefficient at the
// same position from coefficients[capacity * i] on. If the count is odd, a 0 follows. The magnitudes of an
// output's coefficients add up to less than 1.9.
typedef struct upright_filter_bank {
  // The number of outputs.
  size_t count;
  // The number of coefficients reserved for each output; even.
  size_t capacity;
  const uint32_t *starts;
  const uint32_t *counts;
  const int16_t *coefficients;
} upright_filter_bank;

typedef struct upright_resampling {
  // The size of the source, in elements.
  size_t width;
  size_t height;
  // One output for each row (if the axes are swapped: column) of the destination. Its starts are monotonic.
  upright_filter_bank down;
  // One output for each column (row). Its starts are even and monotonic.
  upright_filter_bank across;
  // Whether the source's columns become the destination's rows. A mirrored axis is a bank in reverse.
  int swaps_axes;
  // The number of samples in an element, 1, 2 or 4, and the bytes of a sample, 1 or 2; at most 4 bytes in all.
  size_t components;
  size_t component_size;
  int bit_depth;
  // The unused bits below a sample: 6 in P010. 0 if it has one byte.
  int bit_shift;

  // `upright_resample_measure` sets the rest.
  // The most rows of the source that the outputs of a band read.
  size_t reach;
  // The outputs that a source row is added to at a time, the number of times that a band's rows are read for that, and the
  // number of rows in all.
  size_t slots;
  size_t passes;
  size_t steps;
} upright_resampling;

// Sets the fields that follow from the others.
void upright_resample_measure(upright_resampling *resampling);

// Returns the size of the scratch memory for a measured resampling. It must be aligned to 64 bytes.
size_t upright_resample_scratch(const upright_resampling *resampling);

// Prepares scratch memory. It can be used for any number of frames, of which one at a time.
void upright_resample_prepare(const upright_resampling *resampling, void *scratch);

// Reads every source element at least once and writes every destination element once. Touches nothing else
// except `scratch`, which is prepared.
typedef void (*upright_resample_fn)(const upright_resampling *resampling, uint8_t *dst,
                                    ptrdiff_t dst_stride, const uint8_t *src,
                                    ptrdiff_t src_stride, void *scratch);

// Returns the function of the highest level that both `mask` and the CPU have, or the reference if there is
// none.
upright_resample_fn upright_resampler(uint32_t mask);
