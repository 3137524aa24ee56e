// The resampling in vectors of 16, 32 or 64 bytes: columns are filtered in vectors of rows, then the rows are
// transposed in tiles of four and filtered the same way. Nothing is ever gathered along a row.
//
// Included once by each level, which first defines its vectors:
//
//   TARGET, LANES, vec, V(op)    attribute; 128-bit lanes; type; the intrinsic of a name
//   load, store, zero, flip      a whole vector, not aligned; all bits 0; exclusive or
//   in_every_lane                16 bytes, repeated
//   store_lanes                  stores each lane at a separate address
//   dot                          a sum of 32 bits and the products of two pairs
//   in_order_8, in_order_16      reorders the lanes of a packed vector
//   TRANSPOSE(n)                 the level's transpose of elements of n bytes
//
// Within their lanes, shuffles of all widths behave alike.
#include <string.h>

#include "planes.h"
#include "resample.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define INLINE TARGET UPRIGHT_INLINE

enum {
  // The words of a vector, and the samples that the first filter processes together.
  WORDS = 8 * LANES,
  STEP = 2 * WORDS,
  // The rows of the band that one vector of bytes holds.
  UNIT = 16 * LANES,
};

// Converts `count` samples to signed numbers around 128, shifted by eight bits. The last step is filled with
// zeros. Unpacking stays within lanes: the first vector of a step has the first half of every 16 samples.
INLINE void widen_row(int16_t *to, const uint8_t *from, size_t count) {
  const vec centre = V(set1_epi8)((char)0x80);
  _Alignas(64) uint8_t rest[STEP] = {0};
  for (size_t i = 0; i < count; i += STEP) {
    const uint8_t *bytes = from + i;
    if (count - i < STEP) bytes = memcpy(rest, bytes, count - i);
    const vec centred = flip(load(bytes), centre);
    store(to + i, V(unpacklo_epi8)(zero(), centred));
    store(to + i + WORDS, V(unpackhi_epi8)(zero(), centred));
  }
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

// Applies the first filter to a run of widened bytes, `count` samples in whole steps. `fixed` is `rows` if
// that is known at compile time: the coefficients then stay in registers.
INLINE void filter_wide(int16_t *to, const int16_t *from, const int16_t *taps, size_t rows,
                        size_t count, size_t fixed) {
  vec factors[8];
  UNROLL for (size_t k = 0; k < fixed; k++) factors[k] = V(set1_epi16)(taps[k]);
  for (size_t i = 0; i < count; i += STEP) {
    vec low = zero(), high = low;
    for (size_t k = 0; k < rows; k++) {
      const vec factor = fixed > 0 ? factors[k] : V(set1_epi16)(taps[k]);
      const int16_t *row = from + k * UPRIGHT_PITCH + i;
      low = V(add_epi16)(low, V(mulhrs_epi16)(load(row), factor));
      high = V(add_epi16)(high, V(mulhrs_epi16)(load(row + WORDS), factor));
    }
    store(to + i, low);
    store(to + i + WORDS, high);
  }
}

// Returns the seven-bit coefficients of rows `k` and `k + half`, for every pair of bytes.
INLINE vec narrow_pair(const int16_t *taps, size_t k, size_t half) {
  const int low = taps[k] >> 7, high = taps[k + half] >> 7;
  return V(set1_epi16)((int16_t)((low & 0xFF) | (uint16_t)high << 8));
}

// Applies the first filter to a run of bytes without widening, if the bank is coarse. The rows of a pair are
// half of all rows apart, so that no pair has both of the large coefficients, and none overflows.
INLINE void filter_narrow(int16_t *to, const uint8_t *from, ptrdiff_t stride, const int16_t *taps,
                          size_t rows, size_t count, size_t fixed) {
  const size_t half = (rows + 1) / 2;
  const vec centre = V(set1_epi16)(-128 * 128);
  vec factors[4];
  UNROLL for (size_t k = 0; k < (fixed + 1) / 2; k++) factors[k] = narrow_pair(taps, k, half);
  for (size_t i = 0; i < count; i += STEP) {
    vec low = centre, high = centre;
    for (size_t k = 0; k < half; k++) {
      const vec factor = fixed > 0 ? factors[k] : narrow_pair(taps, k, half);
      const vec a = load(upright_const_row(from, stride, k) + i);
      const vec b = load(upright_const_row(from, stride, upright_min(k + half, rows - 1)) + i);
      low = V(add_epi16)(low, V(maddubs_epi16)(V(unpacklo_epi8)(a, b), factor));
      high = V(add_epi16)(high, V(maddubs_epi16)(V(unpackhi_epi8)(a, b), factor));
    }
    store(to + i, low);
    store(to + i + WORDS, high);
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

#define FOR_USUAL_COUNTS(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)

// The filters of bytes, with the number of rows as a constant for common numbers.
TARGET static void filter_row_narrow(int16_t *to, const uint8_t *from, ptrdiff_t stride,
                                     const int16_t *taps, size_t rows, size_t count) {
  switch (rows) {
#define CASE(N) \
  case N: filter_narrow(to, from, stride, taps, N, count, N); break;
    FOR_USUAL_COUNTS(CASE)
    default: filter_narrow(to, from, stride, taps, rows, count, 0);
#undef CASE
  }
}

TARGET static void filter_row_wide(int16_t *to, const int16_t *from, const int16_t *taps,
                                   size_t rows, size_t count) {
  switch (rows) {
#define CASE(N) \
  case N: filter_wide(to, from, taps, N, count, N); break;
    FOR_USUAL_COUNTS(CASE)
    default: filter_wide(to, from, taps, rows, count, 0);
#undef CASE
  }
}

// Transposes a vector's samples of four rows of the stage. Each lane's four pairs of columns become 16 bytes
// of the band's rows each. From lane to lane the band's columns are `spread` samples apart.
INLINE void turn_pairs(int16_t *to, const int16_t *stage, size_t spread, size_t components) {
  // u v u v to u u v v, or r g b a r g b a to r r g g b b a a.
  const vec same = in_every_lane(
      components == 2 ? _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15)
                      : _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  vec a[4], b[4];
  UNROLL for (int n = 0; n < 4; n++) {
    a[n] = load(stage + n * UPRIGHT_PITCH);
    if (components > 1) a[n] = V(shuffle_epi8)(a[n], same);
  }
  b[0] = V(unpacklo_epi32)(a[0], a[1]);
  b[1] = V(unpackhi_epi32)(a[0], a[1]);
  b[2] = V(unpacklo_epi32)(a[2], a[3]);
  b[3] = V(unpackhi_epi32)(a[2], a[3]);
  const size_t lane = spread * UPRIGHT_BAND;
  store_lanes(to, lane, V(unpacklo_epi64)(b[0], b[2]));
  store_lanes(to + 2 * UPRIGHT_BAND, lane, V(unpackhi_epi64)(b[0], b[2]));
  store_lanes(to + 4 * UPRIGHT_BAND, lane, V(unpacklo_epi64)(b[1], b[3]));
  store_lanes(to + 6 * UPRIGHT_BAND, lane, V(unpackhi_epi64)(b[1], b[3]));
}

// Computes the sums of one output for a unit of rows. `from` is the first pair. Pairs have 0 coefficients
// from `count` on.
INLINE void sum_pairs(vec sum[4], const int16_t *from, size_t pitch, const int16_t *taps,
                      size_t count, size_t pairs, int shift) {
  const vec half = V(set1_epi32)(1 << (shift - 1));
  UNROLL for (int n = 0; n < 4; n++) sum[n] = half;
  for (size_t k = 0; k < pairs; k++) {
    if (k + 1 == pairs && count <= 2 * k) break;
    const vec pair = pair_of(taps + 2 * k);
    UNROLL for (int n = 0; n < 4; n++) {
      sum[n] = dot(sum[n], load(from + k * pitch + n * WORDS), pair);
    }
  }
  const __m128i down = _mm_cvtsi32_si128(shift);
  UNROLL for (int n = 0; n < 4; n++) sum[n] = V(sra_epi32)(sum[n], down);
}

// Converts sums around 0 to bytes around 128.
INLINE vec bytes_of(const vec sum[4]) {
  const vec mixed = V(packs_epi16)(V(packs_epi32)(sum[0], sum[1]), V(packs_epi32)(sum[2], sum[3]));
  return flip(in_order_8(mixed), V(set1_epi8)((char)0x80));
}

// Limits sums to a sample's depth, and moves them up to their place in a word.
INLINE vec words_of(vec low, vec high, const upright_resampling *r) {
  const vec top = V(set1_epi16)((int16_t)upright_top(r));
  const vec limited = V(min_epu16)(V(packus_epi32)(low, high), top);
  return in_order_16(V(sll_epi16)(limited, _mm_cvtsi32_si128(r->bit_shift)));
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
INLINE void write_unit(uint8_t *to, const int16_t *from, size_t output, const upright_resampling *r,
                       size_t components, size_t size, size_t pairs) {
  const upright_filter_bank *bank = &r->across;
  const int16_t *taps = upright_taps(bank, output);
  const size_t count = bank->counts[output];
  const int shift = size == 1 ? 21 : upright_across_shift(r);
  const size_t pitch = components * 2 * UPRIGHT_BAND;
  vec low[4], high[4];
  UNROLL for (size_t c = 0; c < components; c++) {
    vec sum[4];
    sum_pairs(sum, from + c * 2 * UPRIGHT_BAND, pitch, taps, count, pairs, shift);
    if (size == 1) {
      low[c] = bytes_of(sum);
    } else {
      low[c] = words_of(sum[0], sum[1], r);
      high[c] = words_of(sum[2], sum[3], r);
    }
  }
  if (size == 1) {
    store_bytes(to, low, components);
  } else {
    store_words(to, low, components);
    store_words(to + 16 * LANES * components, high, components);
  }
}

// A resampling in progress: the planes, and the current band.
typedef struct pass {
  const upright_resampling *r;
  upright_resample_work w;
  const uint8_t *src;
  ptrdiff_t src_stride;
  // The band: rows between the filters.
  size_t top;
  size_t rows;
  // Its position in the destination.
  uint8_t *dst;
  ptrdiff_t dst_stride;
  // The number of outputs of the band that are written, and the sample of its first column in memory.
  size_t written;
  size_t base;
  // The rows of the source that are still to be prefetched, the byte offset of the next line in the first of
  // them, and the number of lines at a time.
  upright_rows next;
  size_t column;
  size_t share;
} pass;

// Returns the end of the run that begins at `begin`. If the bank is coarse, a partial step at the end of a
// row is a separate run.
UPRIGHT_INLINE size_t run_end(const pass *p, size_t begin) {
  const size_t samples = p->r->width * p->r->components, whole = samples / STEP * STEP;
  return upright_min(begin + UPRIGHT_RUN, p->r->is_coarse && begin < whole ? whole : samples);
}

// Prefetches the next lines for the next band, row by row, as the hardware expects it. It is called often,
// for a few lines each, because more at once would wait for each other.
INLINE void ask(pass *p, size_t size) {
  const size_t bytes = p->r->width * p->r->components * size;
  for (size_t n = 0; n < p->share && p->next.first < p->next.end; n++) {
    __builtin_prefetch(upright_const_row(p->src, p->src_stride, p->next.first) + p->column, 0, 2);
    p->column += UPRIGHT_LINE;
    if (p->column < bytes) continue;
    p->column = 0;
    p->next.first++;
  }
}

// Sets what `ask` prefetches while this band is processed.
UPRIGHT_INLINE void look_ahead(pass *p, size_t size) {
  // About how often a group of a run calls `ask`.
  enum { TIMES = 64 };
  const upright_resampling *r = p->r;
  p->next = upright_rows_of(&r->down, p->top + p->rows, UPRIGHT_BAND);
  p->column = 0;
  const size_t samples = r->width * r->components;
  const size_t pieces = (p->rows / UPRIGHT_GROUP + 1) * (samples / UPRIGHT_RUN + 1);
  if (p->next.first >= p->next.end) return;
  const size_t lines = (p->next.end - p->next.first) * (samples * size / UPRIGHT_LINE + 1);
  p->share = lines / (pieces * TIMES) + 1;
}

// Transposes a group's rows of a run, in `steps` samples. The part of each of the band's lines is written at
// once.
INLINE void turn_group(pass *p, size_t begin, size_t top, size_t steps, size_t components,
                       size_t size) {
  int16_t *to = p->w.band + (begin - p->base) * UPRIGHT_BAND + 2 * top;
  for (size_t i = 0; i < steps; i += WORDS) {
    // Where bytes have been unpacked, the second vector of a step goes between the first's lanes.
    const size_t place = size == 2 ? i : i / STEP * STEP + (i % STEP ? 8 : 0);
    for (size_t n = 0; n < UPRIGHT_GROUP; n += 4) {
      ask(p, size);
      turn_pairs(to + place * UPRIGHT_BAND + 2 * n, p->w.stage + n * UPRIGHT_PITCH + i,
                 size == 2 ? 8 : 16, components);
    }
  }
}

// Applies the first filter to a run of the band, and transposes it.
INLINE void fill_run(pass *p, size_t begin, size_t end, size_t components, size_t size) {
  const upright_filter_bank *bank = &p->r->down;
  const int shift = upright_down_shift(p->r);
  const size_t count = end - begin, steps = (count + STEP - 1) / STEP * STEP;
  const int is_narrow = size == 1 && p->r->is_coarse && count == steps;
  for (size_t top = 0; top < p->rows; top += UPRIGHT_GROUP) {
    const upright_rows needed = upright_rows_of(bank, p->top + top, UPRIGHT_GROUP);
    const uint8_t *first = upright_const_row(p->src, p->src_stride, needed.first) + begin * size;
    for (size_t y = 0; !is_narrow && y < needed.end - needed.first; y++) {
      ask(p, size);
      int16_t *to = p->w.wide + y * UPRIGHT_PITCH;
      const uint8_t *from = upright_const_row(first, p->src_stride, y);
      if (size == 1) widen_row(to, from, count);
      else lower_row(to, from, count, p->r);
    }
    const size_t outputs = upright_min(UPRIGHT_GROUP, p->rows - top);
    for (size_t n = 0; n < outputs; n++) {
      ask(p, size);
      const size_t j = p->top + top + n, y = bank->starts[j] - needed.first;
      const int16_t *taps = upright_taps(bank, j), *wide = p->w.wide + y * UPRIGHT_PITCH;
      int16_t *to = p->w.stage + n * UPRIGHT_PITCH;
      if (is_narrow) {
        filter_row_narrow(to, upright_const_row(first, p->src_stride, y), p->src_stride, taps,
                          bank->counts[j], steps);
      } else if (size == 1) {
        filter_row_wide(to, wide, taps, bank->counts[j], steps);
      } else {
        filter_words(to, wide, taps, bank->counts[j], steps, shift);
      }
    }
    turn_group(p, begin, top, steps, components, size);
  }
}

INLINE void write_column(const pass *p, uint8_t *to, size_t output, size_t components, size_t size,
                         size_t pairs) {
  const size_t start = p->r->across.starts[output] * components - p->base;
  const int16_t *first = p->w.band + start * UPRIGHT_BAND;
  for (size_t top = 0; top < p->rows; top += UNIT) {
    write_unit(to + top * components * size, first + 2 * top, output, p->r, components, size,
               pairs);
  }
}

// Returns output `n` in the order of the band's columns.
UPRIGHT_INLINE size_t output_at(const upright_filter_bank *bank, size_t n) {
  return bank->starts[0] > bank->starts[bank->count - 1] ? bank->count - 1 - n : n;
}

// Applies the second filter, to the destination's rows: each output of the band is a piece of one. Writes the
// outputs for which the band's columns up to `end` are sufficient, while these are in the cache, then moves
// the columns that the next output needs to the front.
INLINE void write_rows(pass *p, size_t end, size_t components, size_t size, size_t pairs) {
  enum { AHEAD = 16 };
  const upright_filter_bank *bank = &p->r->across;
  const ptrdiff_t ahead = output_at(bank, 0) == 0 ? AHEAD * p->dst_stride : -AHEAD * p->dst_stride;
  const int is_whole = p->rows % UNIT == 0;
  for (; p->written < bank->count; p->written++) {
    const size_t i = output_at(bank, p->written);
    if ((bank->starts[i] + bank->counts[i]) * components > end) break;
    uint8_t *to = upright_row(p->dst, p->dst_stride, i);
    __builtin_prefetch((const void *)((uintptr_t)to + (uintptr_t)ahead), 1, 3);
    write_column(p, is_whole ? to : p->w.tile, i, components, size, pairs);
    if (!is_whole) memcpy(to, p->w.tile, p->rows * components * size);
  }
  if (p->written == bank->count) return;
  const size_t next = bank->starts[output_at(bank, p->written)] * components;
  const size_t base = upright_min(next, end);
  memmove(p->w.band, p->w.band + (base - p->base) * UPRIGHT_BAND,
          (end - base) * UPRIGHT_BAND * sizeof(int16_t));
  p->base = base;
}

// Applies the second filter, to the destination's columns, through a tile that is transposed back.
INLINE void write_columns(const pass *p, size_t components, size_t size, size_t pairs,
                          upright_plane_fn transpose) {
  const upright_filter_bank *bank = &p->r->across;
  const size_t element = components * size;
  const ptrdiff_t tile_stride = (ptrdiff_t)(UPRIGHT_BAND * element);
  for (size_t left = 0; left < bank->count; left += UPRIGHT_BAND) {
    const size_t columns = upright_min(UPRIGHT_BAND, bank->count - left);
    for (size_t n = 0; n < columns; n++) {
      write_column(p, upright_row(p->w.tile, tile_stride, n), left + n, components, size, pairs);
    }
    transpose(p->dst + left * element, p->dst_stride, p->w.tile, tile_stride, p->rows, columns);
  }
}

// Applies the second filter, with the number of pairs as a constant for common numbers.
INLINE void write_band(pass *p, size_t end, size_t components, size_t size,
                       upright_plane_fn transpose) {
  const size_t pairs = p->r->across.capacity / 2;
  if (!p->r->swaps_axes) {
    // All at once, because a tile's columns are neighbours.
    if (end == p->r->width * components) write_columns(p, components, size, pairs, transpose);
    return;
  }
  switch (pairs) {
#define CASE(N) \
  case N: write_rows(p, end, components, size, N); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
    default: write_rows(p, end, components, size, pairs);
#undef CASE
  }
}

INLINE void resample(pass p, uint8_t *dst, size_t components, size_t size,
                     upright_plane_fn transpose) {
  const upright_resampling *r = p.r;
  for (p.top = 0; p.top < r->down.count; p.top += UPRIGHT_BAND) {
    p.rows = upright_min(UPRIGHT_BAND, r->down.count - p.top);
    p.dst = r->swaps_axes ? dst + p.top * components * size : upright_row(dst, p.dst_stride, p.top);
    p.written = 0;
    p.base = 0;
    look_ahead(&p, size);
    for (size_t begin = 0, end; begin < r->width * components; begin = end) {
      end = run_end(&p, begin);
      fill_run(&p, begin, end, components, size);
      write_band(&p, end, components, size, transpose);
    }
  }
}

INLINE void resample_any(const upright_resampling *r, uint8_t *dst, ptrdiff_t dst_stride,
                         const uint8_t *src, ptrdiff_t src_stride, void *scratch) {
  const pass p = {.r = r,
                  .w = upright_resample_layout(r, scratch),
                  .src = src,
                  .src_stride = src_stride,
                  .dst_stride = dst_stride};
  if (r->component_size == 1 && r->components == 1) {
    resample(p, dst, 1, 1, TRANSPOSE(1));
  } else if (r->component_size == 1 && r->components == 2) {
    resample(p, dst, 2, 1, TRANSPOSE(2));
  } else if (r->component_size == 1) {
    resample(p, dst, 4, 1, TRANSPOSE(4));
  } else if (r->components == 1) {
    resample(p, dst, 1, 2, TRANSPOSE(2));
  } else {
    resample(p, dst, 2, 2, TRANSPOSE(4));
  }
}
