// The resampling in SSE4.1, in vectors of one lane.
#if defined(__x86_64__)

#include <immintrin.h>

#include "levels.h"

#define TARGET __attribute__((target("sse4.1")))
#define LANES 1
#define V(op) _mm_##op
#define TRANSPOSE(n) upright_transpose_##n##_sse2

typedef __m128i vec, words;

TARGET UPRIGHT_INLINE vec load(const void *p) { return _mm_loadu_si128((const __m128i_u *)p); }
TARGET UPRIGHT_INLINE void store(void *p, vec v) { _mm_storeu_si128((__m128i_u *)p, v); }
TARGET UPRIGHT_INLINE vec zero(void) { return _mm_setzero_si128(); }
TARGET UPRIGHT_INLINE vec flip(vec a, vec b) { return _mm_xor_si128(a, b); }
TARGET UPRIGHT_INLINE vec in_every_lane(__m128i lane) { return lane; }
TARGET UPRIGHT_INLINE vec dot(vec sum, vec a, vec b) {
  return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}

// A single lane is always in order, so the pitch has no effect.
TARGET UPRIGHT_INLINE vec load_lanes(const int16_t *p, size_t pitch) {
  (void)pitch;
  return load(p);
}
#define store_lanes(to, pitch, v) ((void)(pitch), store(to, v))

TARGET UPRIGHT_INLINE vec repeat(const uint64_t *p) {
  return _mm_castpd_si128(_mm_loaddup_pd((const double *)p));
}

#include "resample_x86.h"

#include "resample_pass.h"

TARGET void upright_resample_sse4(UPRIGHT_RESAMPLE) {
  resample_any(r, dst, dst_stride, src, src_stride, scratch);
}

#endif
