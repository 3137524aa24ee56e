// The warp in AVX2, by shuffles. Neighbours in a row of the destination map to neighbours in the source, on
// few rows if the rotation is small. A lane loads 16 bytes of each of those rows and picks every sample's two
// neighbours with one shuffle, in which the samples of other rows stay 0. A lane produces 8 bytes of the
// destination, a step 16: 16, 8 or 4 elements of 1, 2 or 4 bytes.
#if defined(__x86_64__)

#include <immintrin.h>

#include "warp.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define AVX2 __attribute__((target("avx2")))
#define TARGET AVX2
#define TRANSPOSE(n) upright_transpose_##n##_avx2

// A source, and the values of a transform that are the same for all of its rows.
typedef struct plan {
  const uint8_t *src;
  ptrdiff_t stride;
  size_t width, height;
  // From a lane's first element to its leftmost and its topmost.
  int64_t leftmost, topmost;
  // From a lane's first element to the other lane's.
  int64_t lane_u, lane_v;
  // The number of source rows that a lane's upper neighbours may be on.
  int rows;
  // As `warp_ahead` returns it.
  ptrdiff_t ahead;
  // The offset of each element to the right of the leftmost and below the topmost. Elements of 1 byte need
  // two registers, for the even and the odd ones.
  __m256i right[2], below[2];
} plan;

// A lane's coordinates: 32 bits each, 4 of them integer bits, relative to the first byte and the first row
// that are loaded.
typedef struct lanes {
  __m256i right[2], below[2];
} lanes;

AVX2 UPRIGHT_INLINE __m256i load_lanes(const uint8_t *low, const uint8_t *high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i_u *)low)),
                                 _mm_loadu_si128((const __m128i_u *)high), 1);
}

AVX2 UPRIGHT_INLINE __m256i two_lanes(uint32_t low, uint32_t high) {
  return _mm256_set_m128i(_mm_set1_epi32((int)high), _mm_set1_epi32((int)low));
}

// Returns the upper 16 bits of even and odd elements, in order.
AVX2 UPRIGHT_INLINE __m256i upper_halves(const __m256i pair[2]) {
  return _mm256_blend_epi16(_mm256_srli_epi32(pair[0], 16), pair[1], 0xAA);
}

// Returns, for each byte of the shuffle, the offset of the element before the position in the 16 loaded
// bytes, in bits 0...3. `row` receives its row, in bits 4...6.
AVX2 UPRIGHT_INLINE __m256i places(const lanes *at, int size, __m256i *row) {
  if (size == 1) {
    const __m256i copies = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14));
    const __m256i column = _mm256_srli_epi16(upper_halves(at->right), 12);
    const __m256i line = _mm256_and_si256(_mm256_srli_epi16(upper_halves(at->below), 8),
                                          _mm256_set1_epi16(0xF0));
    *row = _mm256_shuffle_epi8(line, copies);
    return _mm256_shuffle_epi8(column, copies);
  }
  const __m256i copies = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const int log2 = size == 2 ? 1 : 2;
  const __m256i column = _mm256_slli_epi32(_mm256_srli_epi32(at->right[0], WARP_BITS), log2);
  const __m256i line = _mm256_slli_epi32(_mm256_srli_epi32(at->below[0], WARP_BITS), 4);
  *row = _mm256_shuffle_epi8(line, copies);
  return _mm256_shuffle_epi8(column, copies);
}

// Returns the offset of each byte of the shuffle from its position: one element for the next element's bytes.
// `inside` returns the bytes' offset inside their element.
AVX2 UPRIGHT_INLINE __m256i next(int size, int component_size) {
  const __m128i value = size == 1   ? _mm_set1_epi16(0x0100)
                        : size == 4 ? _mm_set1_epi32(0x04040000)
                        : component_size == 1 ? _mm_set1_epi32(0x02000200)
                                              : _mm_set1_epi32(0x02020000);
  return _mm256_broadcastsi128_si256(value);
}

AVX2 UPRIGHT_INLINE __m256i inside(int size, int component_size) {
  const __m128i value = size == 1   ? _mm_setzero_si128()
                        : size == 4 ? _mm_set1_epi64x(0x0302030201000100)
                        : component_size == 1 ? _mm_set1_epi32(0x01010000)
                                              : _mm_set1_epi32(0x01000100);
  return _mm256_broadcastsi128_si256(value);
}

// Returns the weights of the next neighbour for 8 bits: 15 bits of which the last three are 0.
AVX2 UPRIGHT_INLINE __m256i weights_1(const __m256i pair[2], int size) {
  if (size == 1) {
    const __m256i fraction = _mm256_and_si256(upper_halves(pair), _mm256_set1_epi16(0x0FFF));
    return _mm256_slli_epi16(fraction, 3);
  }
  const __m256i weight =
      _mm256_and_si256(_mm256_srli_epi32(pair[0], 13), _mm256_set1_epi32(0x7FF8));
  return _mm256_or_si256(weight, _mm256_slli_epi32(weight, 16));
}

// Returns the weights for 16 bits: 14 bits.
AVX2 UPRIGHT_INLINE __m256i weights_2(__m256i place) {
  return _mm256_and_si256(_mm256_srli_epi32(place, WARP_BITS - WARP_WEIGHT_BITS_2),
                          _mm256_set1_epi32((1 << WARP_WEIGHT_BITS_2) - 1));
}

// Interpolates the pairs of neighbours above and below to 16 bytes of the destination.
AVX2 UPRIGHT_INLINE void mix(uint8_t *to, __m256i top, __m256i bottom, const lanes *at, int size,
                             int component_size) {
  __m256i value;
  if (component_size == 1) {
    const __m256i across = weights_1(at->right, size), down = weights_1(at->below, size);
    const __m256i first = _mm256_set1_epi16(0x0040);                 // 64, 0
    const __m256i difference = _mm256_set1_epi16((short)0x40C0);     // -64, 64
    top = _mm256_add_epi16(
        _mm256_maddubs_epi16(top, first),
        _mm256_mulhrs_epi16(_mm256_maddubs_epi16(top, difference), across));
    bottom = _mm256_add_epi16(
        _mm256_maddubs_epi16(bottom, first),
        _mm256_mulhrs_epi16(_mm256_maddubs_epi16(bottom, difference), across));
    value = _mm256_add_epi16(top, _mm256_mulhrs_epi16(_mm256_sub_epi16(bottom, top), down));
    value = _mm256_mulhrs_epi16(value, _mm256_set1_epi16(1 << 9));  // (value + 32) >> 6
    value = _mm256_packus_epi16(value, value);
  } else {
    const __m256i bias = _mm256_set1_epi16((short)0x8000);
    const __m256i one = _mm256_set1_epi32(1 << WARP_WEIGHT_BITS_2);
    const __m256i round = _mm256_set1_epi32(1 << (WARP_WEIGHT_BITS_2 - 2));
    const __m256i weight = weights_2(at->right[0]), down = weights_2(at->below[0]);
    // 1 - weight in the lower half, weight in the upper.
    const __m256i across =
        _mm256_add_epi32(_mm256_sub_epi32(_mm256_slli_epi32(weight, 16), weight), one);
    top = _mm256_madd_epi16(_mm256_xor_si256(top, bias), across);
    bottom = _mm256_madd_epi16(_mm256_xor_si256(bottom, bias), across);
    top = _mm256_srai_epi32(_mm256_add_epi32(top, round), WARP_WEIGHT_BITS_2 - 1);
    bottom = _mm256_srai_epi32(_mm256_add_epi32(bottom, round), WARP_WEIGHT_BITS_2 - 1);
    value = _mm256_mullo_epi32(_mm256_sub_epi32(bottom, top), down);
    value = _mm256_add_epi32(value, _mm256_slli_epi32(top, WARP_WEIGHT_BITS_2));
    value = _mm256_srai_epi32(_mm256_add_epi32(value, one), WARP_WEIGHT_BITS_2 + 1);
    value = _mm256_add_epi32(value, _mm256_set1_epi32(1 << 15));
    value = _mm256_packus_epi32(value, value);
  }
  value = _mm256_permute4x64_epi64(value, _MM_SHUFFLE(3, 1, 2, 0));
  _mm_storeu_si128((__m128i_u *)to, _mm256_castsi256_si128(value));
}

// Selects the loaded bytes that are on `row`. Bit 7 of the others makes the shuffle write a 0.
AVX2 UPRIGHT_INLINE __m256i on_row(__m256i order, int row) {
  return _mm256_adds_epu8(_mm256_xor_si256(order, _mm256_set1_epi8((char)(row << 4))),
                          _mm256_set1_epi8(0x70));
}

// Draws a step whose loads and neighbours are all inside the source. `s` and `t` are the coordinates of its
// first element, rounded and relative to the first sample's centre.
AVX2 UPRIGHT_INLINE void step(uint8_t *to, const plan *plan, int64_t s, int64_t t, int size,
                              int component_size) {
  s += plan->leftmost;
  t += plan->topmost;
  const int64_t s2 = s + plan->lane_u, t2 = t + plan->lane_v;
  const uint8_t *low =
      plan->src + (ptrdiff_t)(t >> WARP_BITS) * plan->stride + (s >> WARP_BITS) * size;
  const uint8_t *high =
      plan->src + (ptrdiff_t)(t2 >> WARP_BITS) * plan->stride + (s2 >> WARP_BITS) * size;

  warp_prefetch(low, plan->ahead);
  warp_prefetch(high, plan->ahead);

  const __m256i fraction = _mm256_set1_epi32(WARP_ONE - 1);
  const __m256i right = _mm256_and_si256(two_lanes((uint32_t)s, (uint32_t)s2), fraction);
  const __m256i below = _mm256_and_si256(two_lanes((uint32_t)t, (uint32_t)t2), fraction);
  lanes at;
  UNROLL for (int i = 0; i < (size == 1 ? 2 : 1); i++) {
    at.right[i] = _mm256_add_epi32(right, plan->right[i]);
    at.below[i] = _mm256_add_epi32(below, plan->below[i]);
  }
  __m256i row;
  __m256i order = _mm256_add_epi8(
      places(&at, size, &row),
      _mm256_add_epi8(next(size, component_size), inside(size, component_size)));
  order = _mm256_or_si256(order, row);

  __m256i picked = on_row(order, 0), under = load_lanes(low + plan->stride, high + plan->stride);
  __m256i top = _mm256_shuffle_epi8(load_lanes(low, high), picked);
  __m256i bottom = _mm256_shuffle_epi8(under, picked);
  for (int i = 1; i < plan->rows; i++) {
    picked = on_row(order, i);
    top = _mm256_or_si256(top, _mm256_shuffle_epi8(under, picked));
    under = load_lanes(low + (i + 1) * plan->stride, high + (i + 1) * plan->stride);
    bottom = _mm256_or_si256(bottom, _mm256_shuffle_epi8(under, picked));
  }
  mix(to, top, bottom, &at, size, component_size);
}

// Clamps coordinates relative to `first` to the outermost centres.
AVX2 UPRIGHT_INLINE __m256i clamped(__m256i place, int64_t last, int64_t last2, uint32_t rounding) {
  const uint32_t half = WARP_HALF, most = 15;
  const __m256i low = _mm256_set1_epi32((int)half);
  const __m256i high = two_lanes(((uint32_t)(last < most ? last : most) << WARP_BITS) + half,
                                 ((uint32_t)(last2 < most ? last2 : most) << WARP_BITS) + half);
  place = _mm256_min_epu32(_mm256_max_epu32(place, low), high);
  return _mm256_sub_epi32(place, _mm256_set1_epi32((int)(half - rounding)));
}

// Draws a step near the source's edges. `u` and `v` are the coordinates of its first element.
AVX2 UPRIGHT_INLINE void edge_step(uint8_t *to, const plan *plan, int64_t u, int64_t v, int size,
                                   int component_size) {
  const int64_t rounding = warp_rounding((size_t)component_size);
  const int64_t shift = rounding - WARP_HALF;
  const int64_t last_column = (int64_t)plan->width - 1, last_row = (int64_t)plan->height - 1;
  const int64_t u1 = u + plan->leftmost, v1 = v + plan->topmost;
  const int64_t u2 = u1 + plan->lane_u, v2 = v1 + plan->lane_v;
  const int64_t last_load = last_column + 1 - 16 / size;
  const int64_t x1 = warp_within((u1 + shift) >> WARP_BITS, last_load);
  const int64_t x2 = warp_within((u2 + shift) >> WARP_BITS, last_load);
  const int64_t y1 = warp_within((v1 + shift) >> WARP_BITS, last_row);
  const int64_t y2 = warp_within((v2 + shift) >> WARP_BITS, last_row);

  const __m256i right =
      two_lanes((uint32_t)(u1 - x1 * WARP_ONE), (uint32_t)(u2 - x2 * WARP_ONE));
  const __m256i below =
      two_lanes((uint32_t)(v1 - y1 * WARP_ONE), (uint32_t)(v2 - y2 * WARP_ONE));
  lanes at;
  UNROLL for (int i = 0; i < (size == 1 ? 2 : 1); i++) {
    at.right[i] = clamped(_mm256_add_epi32(right, plan->right[i]), last_column - x1,
                          last_column - x2, (uint32_t)rounding);
    at.below[i] = clamped(_mm256_add_epi32(below, plan->below[i]), last_row - y1, last_row - y2,
                          (uint32_t)rounding);
  }
  __m256i row;
  __m256i order = _mm256_add_epi8(places(&at, size, &row), next(size, component_size));
  order = _mm256_min_epu8(order, _mm256_set1_epi8((char)(16 - size)));
  order = _mm256_or_si256(_mm256_add_epi8(order, inside(size, component_size)), row);

  const uint8_t *low = plan->src + x1 * size, *high = plan->src + x2 * size;
  __m256i above = load_lanes(low + y1 * plan->stride, high + y2 * plan->stride);
  __m256i top = _mm256_setzero_si256(), bottom = top;
  for (int i = 0; i < plan->rows; i++) {
    const __m256i under = load_lanes(low + warp_within(y1 + i + 1, last_row) * plan->stride,
                                     high + warp_within(y2 + i + 1, last_row) * plan->stride);
    const __m256i picked = on_row(order, i);
    top = _mm256_or_si256(top, _mm256_shuffle_epi8(above, picked));
    bottom = _mm256_or_si256(bottom, _mm256_shuffle_epi8(under, picked));
    above = under;
  }
  mix(to, top, bottom, &at, size, component_size);
}

AVX2 UPRIGHT_INLINE plan make_plan(const uint8_t *src, ptrdiff_t src_stride, size_t src_width,
                                   size_t src_height, const upright_warp_map *map, int size) {
  const int count = 8 / size;
  plan plan = {
      .src = src,
      .stride = src_stride,
      .width = src_width,
      .height = src_height,
      .leftmost = map->ux < 0 ? (count - 1) * map->ux : 0,
      .topmost = map->vx < 0 ? (count - 1) * map->vx : 0,
      .lane_u = count * map->ux,
      .lane_v = count * map->vx,
      .rows = warp_rows_of(map, size),
      .ahead = warp_ahead(map, src_stride, size),
  };
  const __m128i index = size == 1   ? _mm_setr_epi32(0, 2, 4, 6)
                        : size == 2 ? _mm_setr_epi32(0, 1, 2, 3)
                                    : _mm_setr_epi32(0, 0, 1, 1);
  for (int i = 0; i < 2; i++) {
    const __m256i steps = _mm256_broadcastsi128_si256(_mm_add_epi32(index, _mm_set1_epi32(i)));
    // Modulo 2^32. The sums, of which only these bits are used, are correct.
    const __m256i right = _mm256_mullo_epi32(steps, _mm256_set1_epi32((int)map->ux));
    const __m256i below = _mm256_mullo_epi32(steps, _mm256_set1_epi32((int)map->vx));
    plan.right[i] = _mm256_sub_epi32(right, _mm256_set1_epi32((int)plan.leftmost));
    plan.below[i] = _mm256_sub_epi32(below, _mm256_set1_epi32((int)plan.topmost));
  }
  return plan;
}

// Draws a drawable map row by row.
AVX2 UPRIGHT_INLINE void warp_rows(UPRIGHT_WARP, int components, int component_size) {
  const int size = components * component_size;
  const plan plan = make_plan(src, src_stride, src_width, src_height, map, size);
  const int64_t count = 16 / size;
  const int64_t shift = warp_rounding((size_t)component_size) - WARP_HALF;
  // A step loads only from the source if `s` and `t` of its elements are less than these.
  const uint64_t across = (src_width - (size_t)count + 1) << WARP_BITS;
  const uint64_t down = src_height > (size_t)plan.rows ? (src_height - plan.rows) << WARP_BITS : 0;
  const int64_t to_last_u = (count - 1) * map->ux, to_last_v = (count - 1) * map->vx;
  for (size_t y = 0; y < dst_height; y++) {
    int64_t first, last;
    warp_span(map, (int64_t)y, dst_width, src_width, src_height, &first, &last);
    uint8_t *to = upright_row(dst, dst_stride, y);
    const int64_t u0 = map->u + (int64_t)y * map->uy, v0 = map->v + (int64_t)y * map->vy;
    if (last - first < count) {
      for (int64_t x = first; x < last; x++) {
        warp_element(to + x * size, src, src_stride, src_width, src_height, u0 + x * map->ux,
                     v0 + x * map->vx, (size_t)components, (size_t)component_size);
      }
      continue;
    }
    for (int64_t x = first; x < last; x += count) {
      if (x > last - count) x = last - count;  // overlaps the previous step, with the same result
      const int64_t u = u0 + x * map->ux, v = v0 + x * map->vx;
      const int64_t s = u + shift, t = v + shift;
      if ((uint64_t)s < across && (uint64_t)(s + to_last_u) < across && (uint64_t)t < down &&
          (uint64_t)(t + to_last_v) < down) {
        step(to + x * size, &plan, s, t, size, component_size);
      } else {
        edge_step(to + x * size, &plan, u, v, size, component_size);
      }
    }
  }
}

#include "warp_pass.h"

void upright_init_warp_avx2(upright_kernels *table) { UPRIGHT_SET_WARPS(table); }

#endif
