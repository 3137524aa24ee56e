// AVX2 kernels. Most AVX2 instructions work within 128-bit lanes, so the transposes put two SSE2 blocks, one
// below the other, into the two lanes.
#if defined(__x86_64__)

#include <immintrin.h>

#include "planes.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define AVX2 __attribute__((target("avx2")))

AVX2 UPRIGHT_INLINE __m256i load(const uint8_t *p) {
  return _mm256_loadu_si256((const __m256i_u *)p);
}

AVX2 UPRIGHT_INLINE void store(uint8_t *p, __m256i v) { _mm256_storeu_si256((__m256i_u *)p, v); }

AVX2 UPRIGHT_INLINE __m256i load_lanes(const uint8_t *low, const uint8_t *high) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128((const __m128i_u *)low)),
      _mm_loadu_si128((const __m128i_u *)high), 1);
}

// Transposes of 16 x 32, 8 x 16 and 4 x 8 elements, all 16 bytes in a row and 32 in a column.

// Interleaves eight rows to pairs of columns; eight are as many as fit the registers at a time.
AVX2 UPRIGHT_INLINE void half_block_1(__m256i pairs[8], const uint8_t *src, ptrdiff_t src_stride) {
  __m256i a[8], b[8];
  UNROLL for (int i = 0; i < 8; i++) a[i] = load_lanes(src + i * src_stride, src + (i + 16) * src_stride);
  UNROLL for (int i = 0; i < 4; i++) {
    b[i] = _mm256_unpacklo_epi8(a[i], a[i + 4]);
    b[i + 4] = _mm256_unpackhi_epi8(a[i], a[i + 4]);
  }
  UNROLL for (int i = 0; i < 8; i += 4) {
    UNROLL for (int k = 0; k < 2; k++) {
      a[i + k] = _mm256_unpacklo_epi8(b[i + k], b[i + k + 2]);
      a[i + k + 2] = _mm256_unpackhi_epi8(b[i + k], b[i + k + 2]);
    }
  }
  UNROLL for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_epi8(a[i], a[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 1]);
  }
}

AVX2 UPRIGHT_INLINE void block_1(UPRIGHT_PLANE) {
  __m256i top[8], bottom[8];
  half_block_1(top, src, src_stride);
  half_block_1(bottom, src + 8 * src_stride, src_stride);
  UNROLL for (int i = 0; i < 8; i++) {
    store(dst + 2 * i * dst_stride, _mm256_unpacklo_epi64(top[i], bottom[i]));
    store(dst + (2 * i + 1) * dst_stride, _mm256_unpackhi_epi64(top[i], bottom[i]));
  }
}

AVX2 UPRIGHT_INLINE void block_2(UPRIGHT_PLANE) {
  __m256i a[8], b[8];
  UNROLL for (int i = 0; i < 8; i++) {
    a[i] = load_lanes(src + i * src_stride, src + (i + 8) * src_stride);
  }
  UNROLL for (int step = 0; step < 3; step++) {
    UNROLL for (int i = 0; i < 4; i++) {
      b[2 * i] = _mm256_unpacklo_epi16(a[i], a[i + 4]);
      b[2 * i + 1] = _mm256_unpackhi_epi16(a[i], a[i + 4]);
    }
    UNROLL for (int i = 0; i < 8; i++) a[i] = b[i];
  }
  UNROLL for (int i = 0; i < 8; i++) store(dst + i * dst_stride, a[i]);
}

AVX2 UPRIGHT_INLINE void block_4(UPRIGHT_PLANE) {
  __m256i a[4], b[4];
  UNROLL for (int i = 0; i < 4; i++) {
    a[i] = load_lanes(src + i * src_stride, src + (i + 4) * src_stride);
  }
  UNROLL for (int step = 0; step < 2; step++) {
    UNROLL for (int i = 0; i < 2; i++) {
      b[2 * i] = _mm256_unpacklo_epi32(a[i], a[i + 2]);
      b[2 * i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 2]);
    }
    UNROLL for (int i = 0; i < 4; i++) a[i] = b[i];
  }
  UNROLL for (int i = 0; i < 4; i++) store(dst + i * dst_stride, a[i]);
}

AVX2 UPRIGHT_INLINE void write_line(uint8_t *dst, const uint8_t *src) {
  const __m256i low = load(src), high = load(src + 32);
  _mm256_stream_si256((__m256i *)dst, low);
  _mm256_stream_si256((__m256i *)(dst + 32), high);
}

// Mirrors.

AVX2 UPRIGHT_INLINE __m256i swapped_lanes(__m256i v) { return _mm256_permute4x64_epi64(v, 0x4E); }

AVX2 UPRIGHT_INLINE void reverse_1(uint8_t *dst, const uint8_t *src) {
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  store(dst, swapped_lanes(_mm256_shuffle_epi8(load(src), order)));
}

AVX2 UPRIGHT_INLINE void reverse_2(uint8_t *dst, const uint8_t *src) {
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1));
  store(dst, swapped_lanes(_mm256_shuffle_epi8(load(src), order)));
}

AVX2 UPRIGHT_INLINE void reverse_4(uint8_t *dst, const uint8_t *src) {
  const __m256i order = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  store(dst, _mm256_permutevar8x32_epi32(load(src), order));
}

// Pairs.

// Stores the low lanes of both, then the high lanes: the order that unpacking requires.
AVX2 UPRIGHT_INLINE void store_lanes(uint8_t *dst, __m256i low, __m256i high) {
  store(dst, _mm256_permute2x128_si256(low, high, 0x20));
  store(dst + 32, _mm256_permute2x128_si256(low, high, 0x31));
}

AVX2 UPRIGHT_INLINE void join_1(uint8_t *dst, const uint8_t *a, const uint8_t *b) {
  const __m256i first = load(a), second = load(b);
  store_lanes(dst, _mm256_unpacklo_epi8(first, second), _mm256_unpackhi_epi8(first, second));
}

AVX2 UPRIGHT_INLINE void join_2(uint8_t *dst, const uint8_t *a, const uint8_t *b) {
  const __m256i first = load(a), second = load(b);
  store_lanes(dst, _mm256_unpacklo_epi16(first, second), _mm256_unpackhi_epi16(first, second));
}

// Sorts the 64-bit quarters, which packing leaves as low, high, low, high.
AVX2 UPRIGHT_INLINE __m256i sorted_quarters(__m256i v) {
  return _mm256_permute4x64_epi64(v, _MM_SHUFFLE(3, 1, 2, 0));
}

AVX2 UPRIGHT_INLINE void split_1(uint8_t *a, uint8_t *b, const uint8_t *src) {
  const __m256i low = load(src), high = load(src + 32), mask = _mm256_set1_epi16(0x00FF);
  const __m256i first =
      _mm256_packus_epi16(_mm256_and_si256(low, mask), _mm256_and_si256(high, mask));
  const __m256i second =
      _mm256_packus_epi16(_mm256_srli_epi16(low, 8), _mm256_srli_epi16(high, 8));
  store(a, sorted_quarters(first));
  store(b, sorted_quarters(second));
}

AVX2 UPRIGHT_INLINE void split_2(uint8_t *a, uint8_t *b, const uint8_t *src) {
  const __m256i low = load(src), high = load(src + 32), mask = _mm256_set1_epi32(0x0000FFFF);
  const __m256i first =
      _mm256_packus_epi32(_mm256_and_si256(low, mask), _mm256_and_si256(high, mask));
  const __m256i second =
      _mm256_packus_epi32(_mm256_srli_epi32(low, 16), _mm256_srli_epi32(high, 16));
  store(a, sorted_quarters(first));
  store(b, sorted_quarters(second));
}

UPRIGHT_DEFINE_PLANES(avx2, sse2, AVX2, 32, 1, 16, 32)
UPRIGHT_DEFINE_PLANES(avx2, sse2, AVX2, 32, 2, 8, 16)
UPRIGHT_DEFINE_PLANES(avx2, sse2, AVX2, 32, 4, 4, 8)
UPRIGHT_DEFINE_PAIRS(avx2, sse2, AVX2, 32, 1)
UPRIGHT_DEFINE_PAIRS(avx2, sse2, AVX2, 32, 2)

UPRIGHT_DEFINE_STREAMED(avx2, AVX2, 1, 16, 32)
UPRIGHT_DEFINE_STREAMED(avx2, AVX2, 2, 8, 16)
UPRIGHT_DEFINE_STREAMED(avx2, AVX2, 4, 4, 8)

// The size in bytes from which a plane bypasses the cache. Bypassing is faster even for a plane that would
// fit the second-level cache, because lines that are written whole need not be read first. On Sapphire Rapids
// 1080p takes a third of the time if it isn't in the cache and two thirds if it is; chroma of 720p gains
// nothing.
enum { STREAM_BYTES = 400000 };

void upright_init_avx2(upright_kernels *table) {
  UPRIGHT_SET_LEVEL(table, avx2);
  table->transpose_streamed[1] = transpose_streamed_1;
  table->transpose_streamed[2] = transpose_streamed_2;
  table->transpose_streamed[4] = transpose_streamed_4;
  table->stream_bytes = STREAM_BYTES;
}

#endif
