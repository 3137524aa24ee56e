// The resampling in NEON.
#if defined(__aarch64__)

#include <arm_neon.h>
#include <string.h>

#include "resample.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define TARGET
#define INLINE UPRIGHT_INLINE
#define TRANSPOSE(n) upright_transpose_##n##_neon

enum { LANES = 1, WORDS = 8 * LANES, STEP = 2 * WORDS, PIECE = 2 * STEP, UNIT = 16 };

typedef int16x8_t words;

// Returns bytes around 128 as signed numbers, or the reverse.
INLINE uint8x16_t centred(uint8x16_t bytes) { return veorq_u8(bytes, vdupq_n_u8(0x80)); }

// Converts bytes to signed numbers around 128, shifted by eight bits.
INLINE void widen(words to[2], const uint8_t *from) {
  const int8x16_t samples = (int8x16_t)centred(vld1q_u8(from));
  to[0] = vshll_n_s8(vget_low_s8(samples), 8);
  to[1] = vshll_high_n_s8(samples, 8);
}

INLINE words none(void) { return vdupq_n_s16(0); }
INLINE void store(int16_t *to, words v) { vst1q_s16(to, v); }
INLINE words repeat(const uint64_t *factor) { return (words)vld1q_dup_u64(factor); }

INLINE words add_product(words sum, words samples, words factor) {
  return vaddq_s16(sum, vqrdmulhq_s16(samples, factor));
}

// Moves `count` words down to bit 0, and limits them to their depth.
INLINE void lower_row(int16_t *to, const uint8_t *from, size_t count,
                      const upright_resampling *r) {
  const int16x8_t down = vdupq_n_s16((int16_t)-r->bit_shift);
  const uint16x8_t top = vdupq_n_u16((uint16_t)upright_top(r));
  uint8_t rest[2 * STEP] = {0};
  for (size_t i = 0; i < count; i += STEP) {
    const uint8_t *bytes = from + 2 * i;
    if (count - i < STEP) bytes = memcpy(rest, bytes, 2 * (count - i));
    UNROLL for (size_t n = 0; n < STEP; n += WORDS) {
      const uint16x8_t words = (uint16x8_t)vld1q_u8(bytes + 2 * n);
      vst1q_s16(to + i + n, (int16x8_t)vminq_u16(vshlq_u16(words, down), top));
    }
  }
}

// Applies the first filter to words.
INLINE void filter_words(int16_t *to, const int16_t *from, const int16_t *taps, size_t rows,
                         size_t count, int shift) {
  const int32x4_t down = vdupq_n_s32(-shift);
  for (size_t i = 0; i < count; i += WORDS) {
    int32x4_t low = vdupq_n_s32(0), high = low;
    for (size_t k = 0; k < rows; k++) {
      const int16x8_t row = vld1q_s16(from + k * UPRIGHT_PITCH + i);
      low = vmlal_n_s16(low, vget_low_s16(row), taps[k]);
      high = vmlal_high_n_s16(high, row, taps[k]);
    }
    const int16x4_t first = vqmovn_s32(vrshlq_s32(low, down));
    vst1q_s16(to + i, vqmovn_high_s32(first, vrshlq_s32(high, down)));
  }
}

// Transposes eight samples of each of four rows of the stage: of the one lane. The pairs of two columns become a vector of the band's rows.
INLINE void turn_pairs(int16_t *to, const int16_t *stage, size_t lane, size_t components) {
  (void)lane;
  // u v u v to u u v v, or r g b a r g b a to r r g g b b a a.
  static const uint8_t same[2][16] = {
      {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15},
      {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15},
  };
  uint32x4_t a[4];
  UNROLL for (int n = 0; n < 4; n++) {
    a[n] = (uint32x4_t)vld1q_s16(stage + n * UPRIGHT_PITCH);
    if (components > 1) {
      a[n] = (uint32x4_t)vqtbl1q_u8((uint8x16_t)a[n], vld1q_u8(same[components == 4]));
    }
  }
  const uint64x2_t top[] = {(uint64x2_t)vzip1q_u32(a[0], a[1]), (uint64x2_t)vzip2q_u32(a[0], a[1])};
  const uint64x2_t end[] = {(uint64x2_t)vzip1q_u32(a[2], a[3]), (uint64x2_t)vzip2q_u32(a[2], a[3])};
  UNROLL for (int n = 0; n < 2; n++, to += 4 * UPRIGHT_BAND) {
    vst1q_s16(to, (int16x8_t)vzip1q_u64(top[n], end[n]));
    vst1q_s16(to + 2 * UPRIGHT_BAND, (int16x8_t)vzip2q_u64(top[n], end[n]));
  }
}

// Computes the sums of one output for a unit of rows. `from` is the first pair. Pairs have 0 coefficients
// from `count` on. The products of a pair are added up once, at the end.
INLINE void sum_pairs(int32x4_t sum[4], const int16_t *from, size_t pitch, const int16_t *taps,
                      size_t count, size_t pairs, int shift) {
  int32x4_t low[4], high[4];
  UNROLL for (int n = 0; n < 4; n++) low[n] = high[n] = vdupq_n_s32(0);
  for (size_t k = 0; k < pairs; k++) {
    if (k + 1 == pairs && count <= 2 * k) break;
    int32_t both;
    memcpy(&both, taps + 2 * k, sizeof both);
    const int16x8_t pair = (int16x8_t)vdupq_n_s32(both);
    UNROLL for (int n = 0; n < 4; n++) {
      const int16x8_t samples = vld1q_s16(from + k * pitch + n * WORDS);
      low[n] = vmlal_s16(low[n], vget_low_s16(samples), vget_low_s16(pair));
      high[n] = vmlal_high_s16(high[n], samples, pair);
    }
  }
  const int32x4_t down = vdupq_n_s32(-shift);
  UNROLL for (int n = 0; n < 4; n++) sum[n] = vrshlq_s32(vpaddq_s32(low[n], high[n]), down);
}

// Converts sums around 0 to bytes around 128.
INLINE uint8x16_t bytes_of(const int32x4_t sum[4]) {
  const int16x8_t low = vqmovn_high_s32(vqmovn_s32(sum[0]), sum[1]);
  const int16x8_t high = vqmovn_high_s32(vqmovn_s32(sum[2]), sum[3]);
  return centred((uint8x16_t)vqmovn_high_s16(vqmovn_s16(low), high));
}

// Limits sums to a sample's depth, and moves them up to their place in a word.
INLINE uint16x8_t words_of(const int32x4_t sum[2], const upright_resampling *r) {
  const uint16x8_t words = vqmovun_high_s32(vqmovun_s32(sum[0]), sum[1]);
  const uint16x8_t limited = vminq_u16(words, vdupq_n_u16((uint16_t)upright_top(r)));
  return vshlq_u16(limited, vdupq_n_s16((int16_t)r->bit_shift));
}

// Writes one output for a unit of the band's rows, as consecutive elements. `from` is its first pair.
INLINE void write_unit(uint8_t *to, const int16_t *from, const int16_t *taps, size_t count,
                       const upright_resampling *r, size_t components, size_t size, size_t pairs) {
  const int shift = upright_across_shift(r, size);
  const size_t pitch = components * 2 * UPRIGHT_BAND;
  int32x4_t sums[4][4];
  UNROLL for (size_t c = 0; c < components; c++) {
    sum_pairs(sums[c], from + c * 2 * UPRIGHT_BAND, pitch, taps, count, pairs, shift);
  }
  if (size == 1 && components == 1) {
    vst1q_u8(to, bytes_of(sums[0]));
  } else if (size == 1 && components == 2) {
    const uint8x16x2_t elements = {{bytes_of(sums[0]), bytes_of(sums[1])}};
    vst2q_u8(to, elements);
  } else if (size == 1) {
    const uint8x16x4_t elements = {
        {bytes_of(sums[0]), bytes_of(sums[1]), bytes_of(sums[2]), bytes_of(sums[3])}};
    vst4q_u8(to, elements);
  } else {
    UNROLL for (size_t n = 0; n < 4; n += 2) {
      const uint16x8_t first = words_of(sums[0] + n, r);
      uint8_t *half = to + n * 8 * components;
      if (components == 1) {
        vst1q_u8(half, (uint8x16_t)first);
      } else {
        const uint16x8_t second = words_of(sums[1] + n, r);
        vst1q_u8(half, (uint8x16_t)vzip1q_u16(first, second));
        vst1q_u8(half + 16, (uint8x16_t)vzip2q_u16(first, second));
      }
    }
  }
}

#include "resample_pass.h"

void upright_resample_neon(UPRIGHT_RESAMPLE) {
  resample_any(r, dst, dst_stride, src, src_stride, scratch);
}

#endif
