// SSE2 kernels, for every x86-64 CPU.
#if defined(__x86_64__)

#include <emmintrin.h>

#include "planes.h"

#define UNROLL _Pragma("clang loop unroll(full)")

UPRIGHT_INLINE __m128i load(const uint8_t *p) { return _mm_loadu_si128((const __m128i_u *)p); }
UPRIGHT_INLINE void store(uint8_t *p, __m128i v) { _mm_storeu_si128((__m128i_u *)p, v); }

// Transposes. Each step interleaves rows that are half a block apart. After log2(rows) steps the registers
// are the columns, in order.

// Interleaves eight rows to pairs of columns; eight are as many as fit the registers at a time.
UPRIGHT_INLINE void half_block_1(__m128i pairs[8], const uint8_t *src, ptrdiff_t src_stride) {
  __m128i a[8], b[8];
  UNROLL for (int i = 0; i < 8; i++) a[i] = load(src + i * src_stride);
  UNROLL for (int i = 0; i < 4; i++) {
    b[i] = _mm_unpacklo_epi8(a[i], a[i + 4]);
    b[i + 4] = _mm_unpackhi_epi8(a[i], a[i + 4]);
  }
  UNROLL for (int i = 0; i < 8; i += 4) {
    UNROLL for (int k = 0; k < 2; k++) {
      a[i + k] = _mm_unpacklo_epi8(b[i + k], b[i + k + 2]);
      a[i + k + 2] = _mm_unpackhi_epi8(b[i + k], b[i + k + 2]);
    }
  }
  UNROLL for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm_unpacklo_epi8(a[i], a[i + 1]);
    pairs[i + 1] = _mm_unpackhi_epi8(a[i], a[i + 1]);
  }
}

UPRIGHT_INLINE void block_1(UPRIGHT_PLANE) {
  __m128i top[8], bottom[8];
  half_block_1(top, src, src_stride);
  half_block_1(bottom, src + 8 * src_stride, src_stride);
  UNROLL for (int i = 0; i < 8; i++) {
    store(dst + 2 * i * dst_stride, _mm_unpacklo_epi64(top[i], bottom[i]));
    store(dst + (2 * i + 1) * dst_stride, _mm_unpackhi_epi64(top[i], bottom[i]));
  }
}

UPRIGHT_INLINE void block_2(UPRIGHT_PLANE) {
  __m128i a[8], b[8];
  UNROLL for (int i = 0; i < 8; i++) a[i] = load(src + i * src_stride);
  UNROLL for (int step = 0; step < 3; step++) {
    UNROLL for (int i = 0; i < 4; i++) {
      b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
      b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    UNROLL for (int i = 0; i < 8; i++) a[i] = b[i];
  }
  UNROLL for (int i = 0; i < 8; i++) store(dst + i * dst_stride, a[i]);
}

UPRIGHT_INLINE void block_4(UPRIGHT_PLANE) {
  __m128i a[4], b[4];
  UNROLL for (int i = 0; i < 4; i++) a[i] = load(src + i * src_stride);
  UNROLL for (int step = 0; step < 2; step++) {
    UNROLL for (int i = 0; i < 2; i++) {
      b[2 * i] = _mm_unpacklo_epi32(a[i], a[i + 2]);
      b[2 * i + 1] = _mm_unpackhi_epi32(a[i], a[i + 2]);
    }
    UNROLL for (int i = 0; i < 4; i++) a[i] = b[i];
  }
  UNROLL for (int i = 0; i < 4; i++) store(dst + i * dst_stride, a[i]);
}

// Mirrors.

UPRIGHT_INLINE __m128i reversed_words(__m128i v) {
  v = _mm_shufflelo_epi16(v, _MM_SHUFFLE(0, 1, 2, 3));
  v = _mm_shufflehi_epi16(v, _MM_SHUFFLE(0, 1, 2, 3));
  return _mm_shuffle_epi32(v, _MM_SHUFFLE(1, 0, 3, 2));
}

UPRIGHT_INLINE void reverse_1(uint8_t *dst, const uint8_t *src) {
  const __m128i v = load(src);
  store(dst, reversed_words(_mm_or_si128(_mm_slli_epi16(v, 8), _mm_srli_epi16(v, 8))));
}

UPRIGHT_INLINE void reverse_2(uint8_t *dst, const uint8_t *src) {
  store(dst, reversed_words(load(src)));
}

UPRIGHT_INLINE void reverse_4(uint8_t *dst, const uint8_t *src) {
  store(dst, _mm_shuffle_epi32(load(src), _MM_SHUFFLE(0, 1, 2, 3)));
}

// Pairs.

UPRIGHT_INLINE void join_1(uint8_t *dst, const uint8_t *a, const uint8_t *b) {
  const __m128i first = load(a), second = load(b);
  store(dst, _mm_unpacklo_epi8(first, second));
  store(dst + 16, _mm_unpackhi_epi8(first, second));
}

UPRIGHT_INLINE void join_2(uint8_t *dst, const uint8_t *a, const uint8_t *b) {
  const __m128i first = load(a), second = load(b);
  store(dst, _mm_unpacklo_epi16(first, second));
  store(dst + 16, _mm_unpackhi_epi16(first, second));
}

UPRIGHT_INLINE void split_1(uint8_t *a, uint8_t *b, const uint8_t *src) {
  const __m128i low = load(src), high = load(src + 16), mask = _mm_set1_epi16(0x00FF);
  store(a, _mm_packus_epi16(_mm_and_si128(low, mask), _mm_and_si128(high, mask)));
  store(b, _mm_packus_epi16(_mm_srli_epi16(low, 8), _mm_srli_epi16(high, 8)));
}

// a b a b a b a b to a a a a b b b b; SSE2 has no unsigned pack of 32 bits.
UPRIGHT_INLINE __m128i sorted_words(__m128i v) {
  v = _mm_shufflelo_epi16(v, _MM_SHUFFLE(3, 1, 2, 0));
  v = _mm_shufflehi_epi16(v, _MM_SHUFFLE(3, 1, 2, 0));
  return _mm_shuffle_epi32(v, _MM_SHUFFLE(3, 1, 2, 0));
}

UPRIGHT_INLINE void split_2(uint8_t *a, uint8_t *b, const uint8_t *src) {
  const __m128i low = sorted_words(load(src)), high = sorted_words(load(src + 16));
  store(a, _mm_unpacklo_epi64(low, high));
  store(b, _mm_unpackhi_epi64(low, high));
}

UPRIGHT_DEFINE_PLANES(sse2, c, , 16, 1, 16, 16)
UPRIGHT_DEFINE_PLANES(sse2, c, , 16, 2, 8, 8)
UPRIGHT_DEFINE_PLANES(sse2, c, , 16, 4, 4, 4)
UPRIGHT_DEFINE_PAIRS(sse2, c, , 16, 1)
UPRIGHT_DEFINE_PAIRS(sse2, c, , 16, 2)

void upright_init_sse2(upright_kernels *table) { UPRIGHT_SET_LEVEL(table, sse2); }

#endif
