// The resampling in AVX2.
#if defined(__x86_64__)

#include <immintrin.h>

#include "levels.h"

#define TARGET __attribute__((target("avx2")))
#define LANES 2
#define V(op) _mm256_##op
#define TRANSPOSE(n) upright_transpose_##n##_avx2

typedef __m256i vec, words;

TARGET UPRIGHT_INLINE vec load(const void *p) { return _mm256_loadu_si256((const __m256i_u *)p); }
TARGET UPRIGHT_INLINE void store(void *p, vec v) { _mm256_storeu_si256((__m256i_u *)p, v); }
TARGET UPRIGHT_INLINE vec zero(void) { return _mm256_setzero_si256(); }
TARGET UPRIGHT_INLINE vec flip(vec a, vec b) { return _mm256_xor_si256(a, b); }
TARGET UPRIGHT_INLINE vec in_every_lane(__m128i lane) { return _mm256_broadcastsi128_si256(lane); }
TARGET UPRIGHT_INLINE vec dot(vec sum, vec a, vec b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

// Loads lane `n` from n * `pitch` samples after `p`.
TARGET UPRIGHT_INLINE vec load_lanes(const int16_t *p, size_t pitch) {
  const __m256i first = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i_u *)p));
  return _mm256_inserti128_si256(first, _mm_loadu_si128((const __m128i_u *)(p + pitch)), 1);
}

// Stores lane `n` at n * `pitch` elements of `to`'s type.
#define store_lanes(to, pitch, v)                                                             \
  do {                                                                                        \
    const vec lanes = (v);                                                                    \
    _mm_storeu_si128((__m128i_u *)(to), _mm256_castsi256_si128(lanes));                       \
    _mm_storeu_si128((__m128i_u *)((to) + (pitch)), _mm256_extracti128_si256(lanes, 1));      \
  } while (0)

TARGET UPRIGHT_INLINE vec repeat(const uint64_t *p) {
  return _mm256_set1_epi64x(*p);
}

#include "resample_x86.h"

#include "resample_pass.h"

TARGET void upright_resample_avx2(UPRIGHT_RESAMPLE) {
  resample_any(r, dst, dst_stride, src, src_stride, scratch);
}

#endif
