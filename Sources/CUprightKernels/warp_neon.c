// The warp in NEON, by table lookups: a step loads 16 bytes of each row that its samples are on, and picks
// all left neighbours and all right ones from them with one lookup. It draws 8 bytes of the destination: 8, 4
// or 2 elements of 1, 2 or 4 bytes.
#if defined(__aarch64__)

#include <arm_neon.h>

#include "warp.h"

#define UNROLL _Pragma("clang loop unroll(full)")
#define TARGET
#define TRANSPOSE(n) upright_transpose_##n##_neon

// A source, and the values of a transform that are the same for all of its rows.
typedef struct plan {
  const uint8_t *src;
  ptrdiff_t stride;
  // From a step's first element to its leftmost and its topmost.
  int64_t leftmost, topmost;
  // The last element and the last row that a step may load from.
  int64_t last_x, last_y;
  // The distance from the first row that a step loads to each of them. The last one fills up the table.
  ptrdiff_t lines[WARP_MOST_ROWS + 1];
  // As `warp_ahead` returns it.
  ptrdiff_t ahead;
  // The offset of each component to the right of the leftmost and below the topmost, modulo 2^32. Components
  // of 2 bytes need only the first register.
  uint32x4_t right[2], below[2];
} plan;

static plan make_plan(const uint8_t *src, ptrdiff_t src_stride, size_t src_width,
                      size_t src_height, const upright_warp_map *map, int components, int size) {
  const int rows = warp_rows_of(map, size), steps = 8 / size - 1;
  const int64_t last_row = (int64_t)src_height - 1;
  plan plan = {
      .src = src,
      .stride = src_stride,
      .leftmost = map->ux < 0 ? steps * map->ux : 0,
      .topmost = map->vx < 0 ? steps * map->vx : 0,
      .last_x = (int64_t)src_width - 16 / size,
      .last_y = last_row > rows ? last_row - rows : 0,
      .ahead = warp_ahead(map, src_stride, size),
  };
  for (int i = 0; i <= WARP_MOST_ROWS; i++) {
    plan.lines[i] = (ptrdiff_t)warp_within(i < rows ? i : rows, last_row) * src_stride;
  }
  uint32_t right[8], below[8];
  for (int i = 0; i < 8; i++) {
    right[i] = (uint32_t)(i / components * map->ux - plan.leftmost);
    below[i] = (uint32_t)(i / components * map->vx - plan.topmost);
  }
  for (int i = 0; i < 2; i++) {
    plan.right[i] = vld1q_u32(right + 4 * i);
    plan.below[i] = vld1q_u32(below + 4 * i);
  }
  return plan;
}

// Returns the bytes at 16 places in the first `most` lines.
UPRIGHT_INLINE uint8x16_t pick(const uint8x16_t *lines, uint8x16_t places, int most) {
  if (most == 2) {
    const uint8x16x2_t table = {{lines[0], lines[1]}};
    return vqtbl2q_u8(table, places);
  }
  const uint8x16x4_t table = {{lines[0], lines[1], lines[2], lines[3]}};
  const uint8x16_t picked = vqtbl4q_u8(table, places);
  if (most == 4) return picked;
  const uint8x16x4_t rest = {{lines[4], lines[5], lines[6], lines[7]}};
  return vqtbx4q_u8(picked, rest, vsubq_u8(places, vdupq_n_u8(64)));
}

// Picks the neighbours above and below. `column` and `row` are those of the left neighbour above of each byte
// of the destination. The lower half of a result is the left neighbours, the upper half the right ones.
UPRIGHT_INLINE void pick_both(uint8x16_t *top, uint8x16_t *bottom, const uint8x16_t *lines,
                              uint8x8_t column, uint8x8_t row, int size, int most) {
  const uint8x8_t inside = vcreate_u8(size == 1   ? 0
                                      : size == 2 ? 0x0100010001000100
                                                  : 0x0302010003020100);
  const uint8x8_t offset = vmla_u8(inside, column, vdup_n_u8((uint8_t)size));
  const uint8x8_t left = vadd_u8(offset, vshl_n_u8(row, 4));
  const uint8x16_t places = vcombine_u8(left, vadd_u8(left, vdup_n_u8((uint8_t)size)));
  *top = pick(lines, places, most);
  *bottom = pick(lines + 1, places, most);
}

// Interpolates the left and the right neighbours of 8 bits, in units of 1/64.
UPRIGHT_INLINE int16x8_t mix_1(uint8x16_t pairs, int16x8_t weight) {
  const uint8x8_t left = vget_low_u8(pairs), right = vget_high_u8(pairs);
  const int16x8_t difference = vshlq_n_s16((int16x8_t)vsubl_u8(right, left), 6);
  return vaddq_s16((int16x8_t)vshll_n_u8(left, 6), vqrdmulhq_s16(difference, weight));
}

// Draws 8 components of 1 byte. `x` and `y` are the coordinates of the leftmost and the topmost element,
// relative to the lines.
UPRIGHT_INLINE void draw_1(uint8_t *to, const plan *plan, const uint8x16_t *lines, uint32x4_t x,
                           uint32x4_t y, int size, int most) {
  // The upper halves of the coordinates: 4 integer bits, 12 bits of weight.
  const uint16x8_t right =
      vaddhn_high_u32(vaddhn_u32(x, plan->right[0]), x, plan->right[1]);
  const uint16x8_t below =
      vaddhn_high_u32(vaddhn_u32(y, plan->below[0]), y, plan->below[1]);
  uint8x16_t top, bottom;
  pick_both(&top, &bottom, lines, vshr_n_u8(vshrn_n_u16(right, 8), 4),
            vshr_n_u8(vshrn_n_u16(below, 8), 4), size, most);
  const uint16x8_t weights = vdupq_n_u16(0x7FF8);
  const int16x8_t across = (int16x8_t)vandq_u16(vshlq_n_u16(right, 3), weights);
  const int16x8_t down = (int16x8_t)vandq_u16(vshlq_n_u16(below, 3), weights);
  const int16x8_t upper = mix_1(top, across), lower = mix_1(bottom, across);
  const int16x8_t value = vaddq_s16(upper, vqrdmulhq_s16(vsubq_s16(lower, upper), down));
  vst1_u8(to, vqrshrun_n_s16(value, 6));
}

// Words around 2^15 as signed numbers, or the reverse.
UPRIGHT_INLINE uint16x4_t centred(uint16x4_t words) { return veor_u16(words, vdup_n_u16(0x8000)); }

// Interpolates the left and the right neighbours of 16 bits, in units of 1/2.
UPRIGHT_INLINE int32x4_t mix_2(uint8x16_t pairs, int16x4_t weight) {
  const int16x4_t left = (int16x4_t)centred((uint16x4_t)vget_low_u8(pairs));
  const int16x4_t right = (int16x4_t)centred((uint16x4_t)vget_high_u8(pairs));
  const int16x4_t rest = vsub_s16(vdup_n_s16(1 << WARP_WEIGHT_BITS_2), weight);
  return vrshrq_n_s32(vmlal_s16(vmull_s16(left, rest), right, weight), WARP_WEIGHT_BITS_2 - 1);
}

// Returns both bytes of each word as its 4 upper bits.
UPRIGHT_INLINE uint8x8_t upper_bits(uint32x4_t place) {
  return (uint8x8_t)vmul_n_u16(vshr_n_u16(vshrn_n_u32(place, 16), 12), 0x0101);
}

// Draws 4 components of 2 bytes.
UPRIGHT_INLINE void draw_2(uint8_t *to, const plan *plan, const uint8x16_t *lines, uint32x4_t x,
                           uint32x4_t y, int size, int most) {
  const uint32x4_t right = vaddq_u32(x, plan->right[0]), below = vaddq_u32(y, plan->below[0]);
  uint8x16_t top, bottom;
  pick_both(&top, &bottom, lines, upper_bits(right), upper_bits(below), size, most);
  enum { SHIFT = WARP_BITS - WARP_WEIGHT_BITS_2 };
  const uint32x4_t weights = vdupq_n_u32((1 << WARP_WEIGHT_BITS_2) - 1);
  const int16x4_t across = (int16x4_t)vmovn_u32(vandq_u32(vshrq_n_u32(right, SHIFT), weights));
  const int32x4_t down = (int32x4_t)vandq_u32(vshrq_n_u32(below, SHIFT), weights);
  const int32x4_t upper = mix_2(top, across), lower = mix_2(bottom, across);
  const int32x4_t value =
      vmlaq_s32(vshlq_n_s32(upper, WARP_WEIGHT_BITS_2), vsubq_s32(lower, upper), down);
  const uint16x4_t words = (uint16x4_t)vrshrn_n_s32(value, WARP_WEIGHT_BITS_2 + 1);
  vst1_u8(to, (uint8x8_t)centred(words));
}

// Draws a step whose neighbours are all inside the source. `s` and `t` are the coordinates of its first
// element, rounded and relative to the first sample's centre.
UPRIGHT_INLINE void step(uint8_t *to, const plan *plan, int64_t s, int64_t t, int size,
                         int component_size, int most) {
  s += plan->leftmost;
  t += plan->topmost;
  const int64_t x = warp_within(s >> WARP_BITS, plan->last_x);
  const int64_t y = warp_within(t >> WARP_BITS, plan->last_y);
  const uint8_t *from = plan->src + (ptrdiff_t)y * plan->stride + x * size;
  warp_prefetch(from, plan->ahead);
  uint8x16_t lines[WARP_MOST_ROWS + 1];
  UNROLL for (int i = 0; i <= most; i++) lines[i] = vld1q_u8(from + plan->lines[i]);
  const uint32x4_t right = vdupq_n_u32((uint32_t)(s - x * WARP_ONE));
  const uint32x4_t below = vdupq_n_u32((uint32_t)(t - y * WARP_ONE));
  if (component_size == 1) draw_1(to, plan, lines, right, below, size, most);
  else draw_2(to, plan, lines, right, below, size, most);
}

// Draws a map whose steps have upper neighbours on at most `most` rows. Elements with a neighbour outside the
// source are drawn one by one.
UPRIGHT_INLINE void draw_rows(UPRIGHT_WARP, int components, int component_size, int most) {
  const int size = components * component_size;
  const plan plan =
      make_plan(src, src_stride, src_width, src_height, map, components, size);
  const int64_t count = 8 / size;
  const int64_t shift = warp_rounding((size_t)component_size) - WARP_HALF;
  for (size_t y = 0; y < dst_height; y++) {
    int64_t first, last;
    warp_span(map, (int64_t)y, dst_width, src_width, src_height, &first, &last);
    uint8_t *to = upright_row(dst, dst_stride, y);
    const int64_t u = map->u + (int64_t)y * map->uy, v = map->v + (int64_t)y * map->vy;
    int64_t begin = first, end = last;
    warp_clip(u + shift, map->ux, (int64_t)(src_width - 1) * WARP_ONE, &begin, &end);
    warp_clip(v + shift, map->vx, (int64_t)(src_height - 1) * WARP_ONE, &begin, &end);
    if (end - begin < count) begin = end = last;
    for (int64_t x = first; x < last; x++) {
      if (x == begin) {
        x = end - 1;
        continue;
      }
      warp_element(to + x * size, src, src_stride, src_width, src_height, u + x * map->ux,
                   v + x * map->vx, (size_t)components, (size_t)component_size);
    }
    for (int64_t x = begin; x < end; x += count) {
      if (x > end - count) x = end - count;  // overlaps the previous step, with the same result
      step(to + x * size, &plan, u + x * map->ux + shift, v + x * map->vx + shift, size,
           component_size, most);
    }
  }
}

UPRIGHT_INLINE void warp_rows(UPRIGHT_WARP, int components, int component_size) {
  const int rows = warp_rows_of(map, components * component_size);
#define CASE(MOST)                                                                               \
  draw_rows(dst, dst_stride, dst_width, dst_height, src, src_stride, src_width, src_height, map, \
            components, component_size, MOST)
  if (rows <= 2) CASE(2);
  else if (rows <= 4) CASE(4);
  else CASE(WARP_MOST_ROWS);
#undef CASE
}

#include "warp_pass.h"

void upright_init_warp_neon(upright_kernels *table) { UPRIGHT_SET_WARPS(table); }

#endif
