// Turn and rescale in one pass: the picture goes through the first-level cache in tiles, and no frame
// lies between the turn and the scaling.
//
// A resampling is separable: one filter down the source's columns, one across its rows. Coefficients
// have 14 fraction bits and add up to 2^14, so a flat picture stays what it was. Every level computes
// exactly, for samples of one byte (their depth is 8),
//
//   t = sum of (((x[k] - 128) * down[k] + 64) >> 7)
//   o = limited to 0...255(((sum of t[k] * across[k] + 2^20) >> 21) + 128)
//
// and for samples of two bytes, of `d` bits,
//
//   t = limited to 16 bits((sum of x[k] * down[k] + 2^(d - 1)) >> d)
//   o = limited to 0...2^d - 1((sum of t[k] * across[k] + 2^(27 - d)) >> (28 - d))
//
// so that between the filters there are 7, or 14 - d, bits more than in the picture.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Fraction bits of a coefficient.
#define UPRIGHT_FILTER_BITS 14
// The most bits of a sample: two fraction bits remain.
#define UPRIGHT_RESAMPLE_MAX_DEPTH 12

// The filter of every output sample along one axis of the source, in the order of the destination.
//
// Output `i` is the sum of the counts[i] samples from starts[i] on, each times the coefficient at the
// same place from coefficients[capacity * i] on; where the count is odd, a 0 follows. The magnitudes
// of an output's coefficients add up to less than 1.9.
typedef struct upright_filter_bank {
  // Outputs.
  size_t count;
  // Coefficients that each output has room for: even.
  size_t capacity;
  const uint32_t *starts;
  const uint32_t *counts;
  const int16_t *coefficients;
} upright_filter_bank;

typedef struct upright_resampling {
  // The source, in elements.
  size_t width;
  size_t height;
  // One output for each row (where the axes are swapped: column) of the destination.
  upright_filter_bank down;
  // One for each column (row). Its starts are even, and nowhere both rise and fall.
  upright_filter_bank across;
  // Whether the source's columns become the destination's rows. A mirrored axis is a bank in reverse.
  int swaps_axes;
  // Samples of an element, 1 or 2, and bytes of a sample, 1 or 2.
  size_t components;
  size_t component_size;
  int bit_depth;
  // What `upright_bank_is_coarse` says of `down`.
  int is_coarse;
} upright_resampling;

// Whether every coefficient has seven fraction bits at most, and so small sums that samples of one
// byte can be filtered as bytes, which is twice as fast.
int upright_bank_is_coarse(const upright_filter_bank *bank);

// Bytes of scratch that `resampling` needs, to be aligned to 64 bytes and set to zero once.
size_t upright_resample_scratch(const upright_resampling *resampling);

// Reads every source element at least once and writes every destination element once; nothing else
// is touched but `scratch`.
typedef void (*upright_resample_fn)(const upright_resampling *resampling, uint8_t *dst,
                                    ptrdiff_t dst_stride, const uint8_t *src,
                                    ptrdiff_t src_stride, void *scratch);

// The best of the levels that `mask` and the CPU both have; the reference where there is none.
upright_resample_fn upright_resampler(uint32_t mask);
