// The resampling in AVX2: columns filtered in vectors of rows, the rows turned in tiles of eight,
// and then filtered the same way. Nothing is ever gathered along a row.
#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "planes.h"
#include "resample.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE AVX2 UPRIGHT_INLINE

// Samples that go through the first filter together.
enum { STEP = 32 };

// Where the eight samples of a step that begin at `8 * group` lie in a run: unpacking and packing
// stay within 128-bit lanes, so the second and third eight are in each other's place.
UPRIGHT_INLINE size_t run_place(size_t group) {
  return ((group & ~(size_t)3) | (group & 1) << 1 | (group >> 1 & 1)) * 8;
}

AVX2_INLINE __m256i load(const void *p) { return _mm256_loadu_si256((const __m256i_u *)p); }
AVX2_INLINE void store(void *p, __m256i v) { _mm256_storeu_si256((__m256i_u *)p, v); }

// A step of bytes as signed numbers around 128, eight bits up.
AVX2_INLINE void widen_1(int16_t *to, __m256i bytes) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i centred = _mm256_xor_si256(bytes, _mm256_set1_epi8((char)0x80));
  store(to, _mm256_unpacklo_epi8(zero, centred));
  store(to + 16, _mm256_unpackhi_epi8(zero, centred));
}

// A step of words in the same places.
AVX2_INLINE void widen_2(int16_t *to, __m256i low, __m256i high) {
  store(to, _mm256_permute2x128_si256(low, high, 0x20));
  store(to + 16, _mm256_permute2x128_si256(low, high, 0x31));
}

// `count` samples; the last step is filled up with zeros.
AVX2_INLINE void widen_row(int16_t *to, const uint8_t *from, size_t count, size_t size) {
  const size_t whole = count / STEP * STEP;
  for (size_t i = 0; i < whole; i += STEP) {
    if (size == 1) widen_1(to + i, load(from + i));
    else widen_2(to + i, load(from + 2 * i), load(from + 2 * i + 32));
  }
  if (whole < count) {
    _Alignas(32) uint8_t rest[2 * STEP] = {0};
    memcpy(rest, from + whole * size, (count - whole) * size);
    if (size == 1) widen_1(to + whole, load(rest));
    else widen_2(to + whole, load(rest), load(rest + 32));
  }
}

// The first filter over a run of bytes made wide, `count` samples in whole steps. `fixed` is `rows`
// where that is known when this is compiled: then the coefficients stay in registers.
AVX2_INLINE void filter_wide(int16_t *to, const int16_t *from, const int16_t *taps, size_t rows,
                             size_t count, size_t fixed) {
  __m256i factors[8];
  UNROLL for (size_t k = 0; k < fixed; k++) factors[k] = _mm256_set1_epi16(taps[k]);
  for (size_t i = 0; i < count; i += STEP) {
    __m256i low = _mm256_setzero_si256(), high = low;
    for (size_t k = 0; k < rows; k++) {
      const __m256i factor = fixed > 0 ? factors[k] : _mm256_set1_epi16(taps[k]);
      const int16_t *row = from + k * UPRIGHT_RUN + i;
      low = _mm256_add_epi16(low, _mm256_mulhrs_epi16(load(row), factor));
      high = _mm256_add_epi16(high, _mm256_mulhrs_epi16(load(row + 16), factor));
    }
    store(to + i, low);
    store(to + i + 16, high);
  }
}

// The coefficients of rows `k` and `k + half` in seven bits, for every pair of bytes.
AVX2_INLINE __m256i narrow_pair(const int16_t *taps, size_t k, size_t half) {
  const int low = taps[k] >> 7, high = taps[k + half] >> 7;
  return _mm256_set1_epi16((int16_t)((low & 0xFF) | (uint16_t)high << 8));
}

// The first filter over a run of bytes as they are, where the bank is coarse. The rows of a pair are
// half of all rows apart: then no pair has both of the large coefficients, and none overflows.
AVX2_INLINE void filter_narrow(int16_t *to, const uint8_t *from, ptrdiff_t stride,
                               const int16_t *taps, size_t rows, size_t count, size_t fixed) {
  const size_t half = (rows + 1) / 2;
  const __m256i centre = _mm256_set1_epi16(-128 * 128);
  __m256i factors[4];
  UNROLL for (size_t k = 0; k < (fixed + 1) / 2; k++) factors[k] = narrow_pair(taps, k, half);
  for (size_t i = 0; i < count; i += STEP) {
    __m256i low = centre, high = centre;
    for (size_t k = 0; k < half; k++) {
      const __m256i factor = fixed > 0 ? factors[k] : narrow_pair(taps, k, half);
      const __m256i a = load(upright_const_row(from, stride, k) + i);
      const __m256i b = load(upright_const_row(from, stride, upright_min(k + half, rows - 1)) + i);
      low = _mm256_add_epi16(low, _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), factor));
      high = _mm256_add_epi16(high, _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), factor));
    }
    store(to + i, low);
    store(to + i + 16, high);
  }
}

// Two neighbouring coefficients, for every pair of samples.
AVX2_INLINE __m256i pair_of(const int16_t *taps) {
  int32_t pair;
  memcpy(&pair, taps, sizeof(pair));
  return _mm256_set1_epi32(pair);
}

// The same of words.
AVX2_INLINE void filter_words(int16_t *to, const int16_t *from, const int16_t *taps, size_t rows,
                              size_t count, int shift) {
  const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
  const __m128i down = _mm_cvtsi32_si128(shift);
  for (size_t i = 0; i < count; i += 16) {
    __m256i low = half, high = half;
    for (size_t k = 0; k < rows; k += 2) {
      const __m256i a = load(from + k * UPRIGHT_RUN + i);
      const __m256i b = load(from + (k + 1) * UPRIGHT_RUN + i);
      const __m256i pair = pair_of(taps + k);
      low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), pair));
      high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), pair));
    }
    store(to + i, _mm256_packs_epi32(_mm256_sra_epi32(low, down), _mm256_sra_epi32(high, down)));
  }
}

#define FOR_USUAL_COUNTS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)

// The three of them, with the number of rows a constant where it is a usual one.
AVX2_INLINE void filter_row_narrow(int16_t *to, const uint8_t *from, ptrdiff_t stride,
                                   const int16_t *taps, size_t rows, size_t count) {
  switch (rows) {
#define CASE(N) \
  case N: filter_narrow(to, from, stride, taps, N, count, N); break;
    FOR_USUAL_COUNTS(CASE)
    default: filter_narrow(to, from, stride, taps, rows, count, 0);
#undef CASE
  }
}

AVX2_INLINE void filter_row(int16_t *to, const int16_t *from, const int16_t *taps, size_t rows,
                            size_t count, size_t size, int shift) {
  if (size == 2) {
    filter_words(to, from, taps, rows, count, shift);
    return;
  }
  switch (rows) {
#define CASE(N) \
  case N: filter_wide(to, from, taps, N, count, N); break;
    FOR_USUAL_COUNTS(CASE)
    default: filter_wide(to, from, taps, rows, count, 0);
#undef CASE
  }
}

AVX2_INLINE __m256i load_lanes(const int16_t *low, const int16_t *high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i_u *)low)),
                                 _mm_loadu_si128((const __m128i_u *)high), 1);
}

// Eight samples of eight rows of the stage to four rows of eight pairs.
AVX2_INLINE void turn_pairs(int16_t *to, const int16_t *stage,
                            size_t components) {
  // u v u v to u u v v.
  const __m256i same = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
  __m256i a[4], b[4];
  UNROLL for (int n = 0; n < 4; n++) {
    a[n] = load_lanes(stage + n * UPRIGHT_RUN, stage + (n + 4) * UPRIGHT_RUN);
    if (components == 2) a[n] = _mm256_shuffle_epi8(a[n], same);
  }
  b[0] = _mm256_unpacklo_epi32(a[0], a[1]);
  b[1] = _mm256_unpackhi_epi32(a[0], a[1]);
  b[2] = _mm256_unpacklo_epi32(a[2], a[3]);
  b[3] = _mm256_unpackhi_epi32(a[2], a[3]);
  store(to, _mm256_unpacklo_epi64(b[0], b[2]));
  store(to + 2 * UPRIGHT_BAND, _mm256_unpackhi_epi64(b[0], b[2]));
  store(to + 4 * UPRIGHT_BAND, _mm256_unpacklo_epi64(b[1], b[3]));
  store(to + 6 * UPRIGHT_BAND, _mm256_unpackhi_epi64(b[1], b[3]));
}

// The sums of one output of every row of the band; `from` is the first pair.
AVX2_INLINE void sum_pairs(__m256i sum[4], const int16_t *from, size_t pitch, const int16_t *taps,
                           size_t pairs, int shift) {
  const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
  UNROLL for (int n = 0; n < 4; n++) sum[n] = half;
  for (size_t k = 0; k < pairs; k++) {
    const __m256i pair = pair_of(taps + 2 * k);
    UNROLL for (int n = 0; n < 4; n++) {
      sum[n] = _mm256_add_epi32(sum[n],
                                _mm256_madd_epi16(load(from + k * pitch + 16 * n), pair));
    }
  }
  const __m128i down = _mm_cvtsi32_si128(shift);
  UNROLL for (int n = 0; n < 4; n++) sum[n] = _mm256_sra_epi32(sum[n], down);
}

// Sums around 0 to bytes around 128.
AVX2_INLINE __m256i bytes_of(const __m256i sum[4]) {
  const __m256i mixed = _mm256_packs_epi16(_mm256_packs_epi32(sum[0], sum[1]),
                                           _mm256_packs_epi32(sum[2], sum[3]));
  const __m256i sorted =
      _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  return _mm256_xor_si256(sorted, _mm256_set1_epi8((char)0x80));
}

AVX2_INLINE __m256i words_of(__m256i low, __m256i high, __m256i top) {
  const __m256i mixed = _mm256_min_epu16(_mm256_packus_epi32(low, high), top);
  return _mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0));
}

// One output of the band's rows, as elements one after the other; `from` is its first pair.
AVX2_INLINE void write_column(uint8_t *to, const int16_t *from, const int16_t *taps,
                              const upright_resampling *r, size_t components, size_t size,
                              size_t pairs) {
  const int shift = size == 1 ? 21 : upright_across_shift(r);
  const size_t pitch = components * 2 * UPRIGHT_BAND;
  const __m256i top = _mm256_set1_epi16((int16_t)((1 << r->bit_depth) - 1));
  __m256i first[4], second[4];
  sum_pairs(first, from, pitch, taps, pairs, shift);
  if (components == 2) sum_pairs(second, from + 2 * UPRIGHT_BAND, pitch, taps, pairs, shift);
  if (components == 1 && size == 1) {
    store(to, bytes_of(first));
  } else if (components == 1) {
    store(to, words_of(first[0], first[1], top));
    store(to + 32, words_of(first[2], first[3], top));
  } else if (size == 1) {
    const __m256i u = bytes_of(first), v = bytes_of(second);
    const __m256i low = _mm256_unpacklo_epi8(u, v), high = _mm256_unpackhi_epi8(u, v);
    store(to, _mm256_permute2x128_si256(low, high, 0x20));
    store(to + 32, _mm256_permute2x128_si256(low, high, 0x31));
  } else {
    UNROLL for (int n = 0; n < 4; n += 2) {
      const __m256i u = words_of(first[n], first[n + 1], top);
      const __m256i v = words_of(second[n], second[n + 1], top);
      const __m256i low = _mm256_unpacklo_epi16(u, v), high = _mm256_unpackhi_epi16(u, v);
      store(to + 32 * n, _mm256_permute2x128_si256(low, high, 0x20));
      store(to + 32 * n + 32, _mm256_permute2x128_si256(low, high, 0x31));
    }
  }
}

// A resampling in work: the planes, and the band that it has come to.
typedef struct pass {
  const upright_resampling *r;
  upright_resample_work w;
  const uint8_t *src;
  ptrdiff_t src_stride;
  // The band: rows between the filters.
  size_t top;
  size_t rows;
  // Its place in the destination.
  uint8_t *dst;
  ptrdiff_t dst_stride;
} pass;

// A run of some rows of the source.
typedef struct piece {
  upright_rows rows;
  size_t begin;
  size_t end;
} piece;

// The end of the run that begins at `begin`. Where the bank is coarse, what is less than a step at
// the end of a row is a run of its own.
UPRIGHT_INLINE size_t run_end(const pass *p, size_t begin) {
  const size_t samples = p->r->width * p->r->components, whole = samples / STEP * STEP;
  return upright_min(begin + UPRIGHT_RUN, p->r->is_coarse && begin < whole ? whole : samples);
}

// What is read after the group from `group` on: the next group of the band, else the first of the
// next run, else the first of the next band.
UPRIGHT_INLINE piece next_piece(const pass *p, size_t group, size_t begin, size_t end) {
  const upright_resampling *r = p->r;
  if (group + UPRIGHT_GROUP < p->top + p->rows) {
    const upright_rows now = upright_group_rows(&r->down, group);
    upright_rows next = upright_group_rows(&r->down, group + UPRIGHT_GROUP);
    // Without what is there already.
    if (next.first >= now.first && next.first < now.end) {
      next.first = upright_min(now.end, next.end);
    } else if (next.end <= now.end && next.end > now.first) {
      next.end = now.first;
    }
    return (piece){next, begin, end};
  }
  if (end < r->width * r->components) {
    return (piece){upright_group_rows(&r->down, p->top), end, run_end(p, end)};
  }
  if (p->top + p->rows < r->down.count) {
    return (piece){upright_group_rows(&r->down, p->top + p->rows), 0, run_end(p, 0)};
  }
  return (piece){{0, 0}, 0, 0};
}

// Asks for rows `first` to `end` of a piece.
AVX2_INLINE void prefetch(const pass *p, const piece *next, size_t first, size_t end, size_t size) {
  for (size_t y = first; y < end; y++) {
    const uint8_t *row = upright_const_row(p->src, p->src_stride, y);
    for (size_t x = next->begin * size; x < next->end * size; x += UPRIGHT_LINE) {
      __builtin_prefetch(row + x, 0, 3);
    }
  }
}

// The first filter, and the turn, of a run of the band.
AVX2_INLINE void fill_run(const pass *p, size_t begin, size_t end, size_t components, size_t size) {
  const upright_filter_bank *bank = &p->r->down;
  const int shift = upright_down_shift(p->r);
  const size_t count = end - begin, steps = (count + STEP - 1) / STEP * STEP;
  const int is_narrow = size == 1 && p->r->is_coarse && count == steps;
  for (size_t top = 0; top < p->rows; top += UPRIGHT_GROUP) {
    const upright_rows needed = upright_group_rows(bank, p->top + top);
    const uint8_t *first = upright_const_row(p->src, p->src_stride, needed.first) + begin * size;
    if (!is_narrow) {
      for (size_t y = 0; y < needed.end - needed.first; y++) {
        widen_row(p->w.wide + y * UPRIGHT_RUN, upright_const_row(first, p->src_stride, y), count,
                  size);
      }
    }
    const piece next = next_piece(p, p->top + top, begin, end);
    const size_t share = (next.rows.end - next.rows.first + UPRIGHT_GROUP - 1) / UPRIGHT_GROUP;
    const size_t outputs = upright_min(UPRIGHT_GROUP, p->rows - top);
    for (size_t n = 0; n < outputs; n++) {
      const size_t asked = next.rows.first + n * share;
      prefetch(p, &next, asked, upright_min(asked + share, next.rows.end), size);
      const size_t j = p->top + top + n, y = bank->starts[j] - needed.first;
      const int16_t *taps = upright_taps(bank, j);
      int16_t *to = p->w.stage + n * UPRIGHT_RUN;
      if (is_narrow) {
        filter_row_narrow(to, upright_const_row(first, p->src_stride, y), p->src_stride, taps,
                          bank->counts[j], steps);
      } else {
        filter_row(to, p->w.wide + y * UPRIGHT_RUN, taps, bank->counts[j], steps, size, shift);
      }
    }
    for (size_t n = 0; n < outputs; n += 8) {
      int16_t *to = p->w.band + begin * UPRIGHT_BAND + 2 * (top + n);
      const int16_t *from = p->w.stage + n * UPRIGHT_RUN;
      for (size_t i = 0; i < steps; i += 8) {
        turn_pairs(to + i * UPRIGHT_BAND, from + run_place(i / 8), components);
      }
    }
  }
}

AVX2_INLINE const int16_t *first_pair(const pass *p, size_t output, size_t components) {
  return p->w.band + p->r->across.starts[output] * components * UPRIGHT_BAND;
}

// The second filter, into the destination's rows: each output of the band is a piece of one.
AVX2_INLINE void write_rows(const pass *p, size_t components, size_t size, size_t pairs) {
  enum { AHEAD = 16 };
  const upright_filter_bank *bank = &p->r->across;
  for (size_t i = 0; i < bank->count; i++) {
    uint8_t *to = upright_row(p->dst, p->dst_stride, i);
    __builtin_prefetch((const void *)((uintptr_t)to + (uintptr_t)(AHEAD * p->dst_stride)), 1, 3);
    write_column(p->rows == UPRIGHT_BAND ? to : p->w.tile, first_pair(p, i, components),
                 upright_taps(bank, i), p->r, components, size, pairs);
    if (p->rows < UPRIGHT_BAND) memcpy(to, p->w.tile, p->rows * components * size);
  }
}

// The second filter, into the destination's columns: by way of a tile that is turned back.
AVX2_INLINE void write_columns(const pass *p, size_t components, size_t size, size_t pairs,
                               upright_plane_fn transpose) {
  const upright_filter_bank *bank = &p->r->across;
  const size_t element = components * size;
  const ptrdiff_t tile_stride = (ptrdiff_t)(UPRIGHT_BAND * element);
  for (size_t left = 0; left < bank->count; left += UPRIGHT_BAND) {
    const size_t columns = upright_min(UPRIGHT_BAND, bank->count - left);
    for (size_t n = 0; n < columns; n++) {
      write_column(upright_row(p->w.tile, tile_stride, n), first_pair(p, left + n, components),
                   upright_taps(bank, left + n), p->r, components, size, pairs);
    }
    transpose(p->dst + left * element, p->dst_stride, p->w.tile, tile_stride, p->rows, columns);
  }
}

AVX2_INLINE void write_band(const pass *p, size_t components, size_t size, size_t pairs,
                            upright_plane_fn transpose) {
  if (p->r->swaps_axes) {
    write_rows(p, components, size, pairs);
  } else {
    write_columns(p, components, size, pairs, transpose);
  }
}

AVX2_INLINE void resample(pass p, uint8_t *dst, size_t components, size_t size,
                          upright_plane_fn transpose) {
  const upright_resampling *r = p.r;
  for (p.top = 0; p.top < r->down.count; p.top += UPRIGHT_BAND) {
    p.rows = upright_min(UPRIGHT_BAND, r->down.count - p.top);
    p.dst = r->swaps_axes ? dst + p.top * components * size : upright_row(dst, p.dst_stride, p.top);
    for (size_t begin = 0, end; begin < r->width * components; begin = end) {
      end = run_end(&p, begin);
      fill_run(&p, begin, end, components, size);
    }
    // With the number of pairs a constant where it is a usual one.
    const size_t pairs = r->across.capacity / 2;
    switch (pairs) {
#define CASE(N) \
  case N: write_band(&p, components, size, N, transpose); break;
      CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
      default: write_band(&p, components, size, pairs, transpose);
#undef CASE
    }
  }
}

AVX2 void upright_resample_avx2(const upright_resampling *r, uint8_t *dst, ptrdiff_t dst_stride,
                                const uint8_t *src, ptrdiff_t src_stride, void *scratch) {
  const pass p = {.r = r,
                  .w = upright_resample_layout(r, scratch),
                  .src = src,
                  .src_stride = src_stride,
                  .dst_stride = dst_stride};
  if (r->component_size == 1 && r->components == 1) {
    resample(p, dst, 1, 1, upright_transpose_1_avx2);
  } else if (r->component_size == 1) {
    resample(p, dst, 2, 1, upright_transpose_2_avx2);
  } else if (r->components == 1) {
    resample(p, dst, 1, 2, upright_transpose_2_avx2);
  } else {
    resample(p, dst, 2, 2, upright_transpose_4_avx2);
  }
}

#endif
