// The resampling's operations on the vectors of 16, 32 or 64 bytes of SSE4.1, AVX2 and AVX-512. Within their
// lanes, shuffles of all widths behave alike.
//
// Included once by each level, which first defines its vectors:
//
//   TARGET, LANES, vec, V(op)    attribute; 128-bit lanes; type; the intrinsic of a name
//   load, store, zero, flip      a whole vector, not aligned; all bits 0; exclusive or
//   in_every_lane                16 bytes, repeated
//   load_lanes, store_lanes      loads each lane from a separate address, stores it there
//   dot                          a sum of 32 bits and the products of two pairs
//   repeat                       four words, repeated
#include <string.h>

#include "resample.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define INLINE TARGET UPRIGHT_INLINE

enum {
  WORDS = 8 * LANES,
  STEP = 2 * WORDS,
  PIECE = STEP,
  // The vectors of bytes that are computed together, each from four vectors of sums: as many as a band has rows and the
  // CPU has registers for.
  VECTORS = LANES == 4 ? 1 : 2,
  UNIT = VECTORS * 16 * LANES,
};

// Converts bytes to signed numbers around 128, shifted by eight bits. Unpacking stays within lanes: the first vector has
// the first half of every 16 samples.
INLINE void widen(vec to[2], const uint8_t *from) {
  const vec centred = flip(load(from), V(set1_epi8)((char)0x80));
  to[0] = V(unpacklo_epi8)(zero(), centred);
  to[1] = V(unpackhi_epi8)(zero(), centred);
}

INLINE vec none(void) { return zero(); }

INLINE vec add_product(vec sum, vec samples, vec factor) {
  return V(add_epi16)(sum, V(mulhrs_epi16)(samples, factor));
}

// Moves `count` words, which keep their order, down to bit 0, and limits them to their depth.
INLINE void lower_row(int16_t *to, const uint8_t *from, size_t count,
                      const upright_resampling *r) {
  const __m128i down = _mm_cvtsi32_si128(r->bit_shift);
  const vec top = V(set1_epi16)((int16_t)upright_top(r));
  _Alignas(64) uint8_t rest[2 * STEP] = {0};
  for (size_t i = 0; i < count; i += STEP) {
    const uint8_t *bytes = from + 2 * i;
    if (count - i < STEP) bytes = memcpy(rest, bytes, 2 * (count - i));
    UNROLL for (size_t n = 0; n < STEP; n += WORDS) {
      store(to + i + n, V(min_epu16)(V(srl_epi16)(load(bytes + 2 * n), down), top));
    }
  }
}

// Returns two neighbouring coefficients, for every pair of samples.
INLINE vec pair_of(const int16_t *taps) {
  int32_t pair;
  memcpy(&pair, taps, sizeof(pair));
  return V(set1_epi32)(pair);
}

// Applies the first filter to words.
INLINE void filter_words(int16_t *to, const int16_t *from, const int16_t *taps, size_t rows,
                         size_t count, int shift) {
  const vec half = V(set1_epi32)(1 << (shift - 1));
  const __m128i down = _mm_cvtsi32_si128(shift);
  for (size_t i = 0; i < count; i += WORDS) {
    vec low = half, high = half;
    for (size_t k = 0; k < rows; k += 2) {
      const vec a = load(from + k * UPRIGHT_PITCH + i);
      const vec b = load(from + (k + 1) * UPRIGHT_PITCH + i);
      const vec pair = pair_of(taps + k);
      low = dot(low, V(unpacklo_epi16)(a, b), pair);
      high = dot(high, V(unpackhi_epi16)(a, b), pair);
    }
    store(to + i, V(packs_epi32)(V(sra_epi32)(low, down), V(sra_epi32)(high, down)));
  }
}

// Transposes eight samples of four rows of the stage for every lane, `lane` words apart. The pairs of two columns become a
// vector of the band's rows, which is stored at once: stores are what limits a transpose.
INLINE void turn_pairs(int16_t *to, const int16_t *stage, size_t lane, size_t components) {
  // u v u v to u u v v, or r g b a r g b a to r r g g b b a a.
  const vec same = in_every_lane(
      components == 2 ? _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15)
                      : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  vec a[4], b[4];
  UNROLL for (int n = 0; n < 4; n++) {
    a[n] = load_lanes(stage + n * UPRIGHT_PITCH, lane);
    if (components > 1) a[n] = V(shuffle_epi8)(a[n], same);
  }
  b[0] = V(unpacklo_epi32)(a[0], a[1]);
  b[1] = V(unpackhi_epi32)(a[0], a[1]);
  b[2] = V(unpacklo_epi32)(a[2], a[3]);
  b[3] = V(unpackhi_epi32)(a[2], a[3]);
  store(to, V(unpacklo_epi64)(b[0], b[2]));
  store(to + 2 * UPRIGHT_BAND, V(unpackhi_epi64)(b[0], b[2]));
  store(to + 4 * UPRIGHT_BAND, V(unpacklo_epi64)(b[1], b[3]));
  store(to + 6 * UPRIGHT_BAND, V(unpackhi_epi64)(b[1], b[3]));
}

// Computes the sums of one output for a unit of rows, from `start` on. `from` is the first pair. Pairs have 0 coefficients
// from `count` on.
INLINE void sum_pairs(vec sum[4 * VECTORS], const int16_t *from, size_t pitch, const int16_t *taps,
                      size_t count, size_t pairs, int32_t start, int shift) {
  UNROLL for (int n = 0; n < 4 * VECTORS; n++) sum[n] = V(set1_epi32)(start);
  for (size_t k = 0; k < pairs; k++) {
    if (k + 1 == pairs && count <= 2 * k) break;
    const vec pair = pair_of(taps + 2 * k);
    UNROLL for (int n = 0; n < 4 * VECTORS; n++) {
      sum[n] = dot(sum[n], load(from + k * pitch + n * WORDS), pair);
    }
  }
  const __m128i down = _mm_cvtsi32_si128(shift);
  UNROLL for (int n = 0; n < 4 * VECTORS; n++) sum[n] = V(sra_epi32)(sum[n], down);
}

// Limits sums to bytes.
INLINE vec bytes_of(const vec sum[4]) {
  return V(packus_epi16)(V(packs_epi32)(sum[0], sum[1]), V(packs_epi32)(sum[2], sum[3]));
}

// Limits sums to a sample's depth, and moves them up to their place in a word.
INLINE vec words_of(vec low, vec high, const upright_resampling *r) {
  const vec top = V(set1_epi16)((int16_t)upright_top(r));
  const vec limited = V(min_epu16)(V(packus_epi32)(low, high), top);
  return V(sll_epi16)(limited, _mm_cvtsi32_si128(r->bit_shift));
}

// Stores a unit of each component's bytes as elements.
INLINE void store_bytes(uint8_t *to, const vec *of, size_t components) {
  if (components == 1) {
    store(to, of[0]);
    return;
  }
  const vec low = V(unpacklo_epi8)(of[0], of[1]), high = V(unpackhi_epi8)(of[0], of[1]);
  if (components == 2) {
    store_lanes(to, 32, low);
    store_lanes(to + 16, 32, high);
    return;
  }
  const vec next = V(unpacklo_epi8)(of[2], of[3]), last = V(unpackhi_epi8)(of[2], of[3]);
  store_lanes(to, 64, V(unpacklo_epi16)(low, next));
  store_lanes(to + 16, 64, V(unpackhi_epi16)(low, next));
  store_lanes(to + 32, 64, V(unpacklo_epi16)(high, last));
  store_lanes(to + 48, 64, V(unpackhi_epi16)(high, last));
}

// Stores half a unit of each component's words as elements.
INLINE void store_words(uint8_t *to, const vec *of, size_t components) {
  if (components == 1) {
    store(to, of[0]);
    return;
  }
  store_lanes(to, 32, V(unpacklo_epi16)(of[0], of[1]));
  store_lanes(to + 16, 32, V(unpackhi_epi16)(of[0], of[1]));
}

// Writes one output for a unit of the band's rows, as consecutive elements. `from` is its first pair.
INLINE void write_unit(uint8_t *to, const int16_t *from, const int16_t *taps, size_t count,
                       const upright_resampling *r, size_t components, size_t size, size_t pairs) {
  const int shift = upright_across_shift(r, size);
  // Half a unit, to round; and bytes are around 128.
  const int32_t start = (1 << (shift - 1)) + (size == 1 ? 128 << shift : 0);
  const size_t pitch = components * 2 * UPRIGHT_BAND;
  vec sum[4][4 * VECTORS];
  UNROLL for (size_t c = 0; c < components; c++) {
    sum_pairs(sum[c], from + c * 2 * UPRIGHT_BAND, pitch, taps, count, pairs, start, shift);
  }
  UNROLL for (size_t v = 0; v < VECTORS; v++) {
    vec low[4], high[4];
    UNROLL for (size_t c = 0; c < components; c++) {
      const vec *of = sum[c] + 4 * v;
      if (size == 1) {
        low[c] = bytes_of(of);
      } else {
        low[c] = words_of(of[0], of[1], r);
        high[c] = words_of(of[2], of[3], r);
      }
    }
    uint8_t *place = to + v * 16 * LANES * components * size;
    if (size == 1) {
      store_bytes(place, low, components);
    } else {
      store_words(place, low, components);
      store_words(place + 16 * LANES * components, high, components);
    }
  }
}
