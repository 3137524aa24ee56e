// The resampling in AVX-512, with the products of VNNI.
#if defined(__x86_64__)

#include <immintrin.h>

#include "levels.h"

// Tunes for a CPU on which, according to clang, one multiply-and-add instruction is as fast as two separate
// ones. Otherwise clang splits the VNNI products.
#define TARGET \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,tune=znver4")))
#define LANES 4
#define V(op) _mm512_##op
#define TRANSPOSE(n) upright_transpose_##n##_avx2

typedef __m512i vec, words;

TARGET UPRIGHT_INLINE vec load(const void *p) { return _mm512_loadu_si512(p); }
TARGET UPRIGHT_INLINE void store(void *p, vec v) { _mm512_storeu_si512(p, v); }
TARGET UPRIGHT_INLINE vec zero(void) { return _mm512_setzero_si512(); }
TARGET UPRIGHT_INLINE vec flip(vec a, vec b) { return _mm512_xor_si512(a, b); }
TARGET UPRIGHT_INLINE vec in_every_lane(__m128i lane) { return _mm512_broadcast_i32x4(lane); }
TARGET UPRIGHT_INLINE vec dot(vec sum, vec a, vec b) { return _mm512_dpwssd_epi32(sum, a, b); }

// Loads lane `n` from n * `pitch` samples after `p`.
TARGET UPRIGHT_INLINE vec load_lanes(const int16_t *p, size_t pitch) {
  const __m512i first = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i_u *)p));
  const __m512i two =
      _mm512_inserti32x4(first, _mm_loadu_si128((const __m128i_u *)(p + pitch)), 1);
  const __m512i three =
      _mm512_inserti32x4(two, _mm_loadu_si128((const __m128i_u *)(p + 2 * pitch)), 2);
  return _mm512_inserti32x4(three, _mm_loadu_si128((const __m128i_u *)(p + 3 * pitch)), 3);
}

// Stores lane `n` at n * `pitch` elements of `to`'s type.
#define store_lanes(to, pitch, v)                                                                 \
  do {                                                                                            \
    const vec lanes = (v);                                                                        \
    _mm_storeu_si128((__m128i_u *)(to), _mm512_castsi512_si128(lanes));                           \
    _mm_storeu_si128((__m128i_u *)((to) + (pitch)), _mm512_extracti32x4_epi32(lanes, 1));         \
    _mm_storeu_si128((__m128i_u *)((to) + 2 * (pitch)), _mm512_extracti32x4_epi32(lanes, 2));     \
    _mm_storeu_si128((__m128i_u *)((to) + 3 * (pitch)), _mm512_extracti32x4_epi32(lanes, 3));     \
  } while (0)

TARGET UPRIGHT_INLINE vec repeat(const uint64_t *p) {
  return _mm512_set1_epi64(*p);
}

#include "resample_x86.h"

#include "resample_pass.h"

TARGET void upright_resample_avx512(UPRIGHT_RESAMPLE) {
  resample_any(r, dst, dst_stride, src, src_stride, scratch);
}

#endif
