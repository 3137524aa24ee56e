// Blending in NEON: sums of products that are rounded while they are narrowed. The plain loops do the rest of
// a row: its last vector can't overlap the one before, because the destination may be a source.
#if defined(__aarch64__)

#include <arm_neon.h>

#include "blend.h"

// Components of 2 bytes need not be aligned.
UPRIGHT_INLINE uint16x8_t load_words(const upright_word *from) {
  return (uint16x8_t)vld1q_u8((const uint8_t *)from);
}

UPRIGHT_INLINE void store_words(upright_word *to, uint16x8_t v) {
  vst1q_u8((uint8_t *)to, (uint8x16_t)v);
}

// a * 256 + (b - a) * weight, modulo 2^16: the result is in range, and 256 - weight need not fit a byte.
UPRIGHT_INLINE uint8x8_t blended_1(uint8x8_t a, uint8x8_t b, uint16_t weight) {
  return vrshrn_n_u16(vmlaq_n_u16(vshll_n_u8(a, 8), vsubl_u8(b, a), weight), 8);
}

UPRIGHT_INLINE void neon_blend_1(uint8_t *to, const uint8_t *a, const uint8_t *b, unsigned weight,
                                 size_t count) {
  const uint16_t some = (uint16_t)weight;
  size_t x = 0;
  for (; count - x >= 16; x += 16) {
    const uint8x16_t first = vld1q_u8(a + x), second = vld1q_u8(b + x);
    vst1q_u8(to + x, vcombine_u8(blended_1(vget_low_u8(first), vget_low_u8(second), some),
                                 blended_1(vget_high_u8(first), vget_high_u8(second), some)));
  }
  plain_blend_1(to + x, a + x, b + x, weight, count - x);
}

UPRIGHT_INLINE void neon_blend_2(upright_word *to, const upright_word *a, const upright_word *b,
                                 unsigned weight, size_t count) {
  const uint16_t some = (uint16_t)weight, rest = (uint16_t)(256 - weight);
  size_t x = 0;
  for (; count - x >= 8; x += 8) {
    const uint16x8_t first = load_words(a + x), second = load_words(b + x);
    const uint32x4_t low =
        vmlal_n_u16(vmull_n_u16(vget_low_u16(first), rest), vget_low_u16(second), some);
    const uint32x4_t high = vmlal_high_n_u16(vmull_high_n_u16(first, rest), second, some);
    store_words(to + x, vrshrn_high_n_u32(vrshrn_n_u32(low, 8), high, 8));
  }
  plain_blend_2(to + x, a + x, b + x, weight, count - x);
}

// (sum + 127) / 255, for sums up to 255 * 255.
UPRIGHT_INLINE uint8x8_t over_255_1(uint16x8_t sum) {
  return vraddhn_u16(sum, vrshrq_n_u16(sum, 8));
}

// The same for sums up to 65535 * 255: 1/255 is 1/256 + 1/256^2 + 1/256^3, and a rest too small to matter.
UPRIGHT_INLINE uint16x4_t over_255_2(uint32x4_t sum) {
  sum = vaddq_u32(sum, vdupq_n_u32(128));
  return vshrn_n_u32(vsraq_n_u32(sum, vsraq_n_u32(sum, sum, 8), 8), 8);
}

UPRIGHT_INLINE void neon_composite_1(uint8_t *to, const uint8_t *from, const uint8_t *alpha,
                                     size_t count) {
  size_t x = 0;
  for (; count - x >= 16; x += 16) {
    const uint8x16_t under = vld1q_u8(to + x), over = vld1q_u8(from + x);
    const uint8x16_t some = vld1q_u8(alpha + x), rest = vmvnq_u8(some);
    const uint16x8_t low = vmlal_u8(vmull_u8(vget_low_u8(over), vget_low_u8(some)),
                                    vget_low_u8(under), vget_low_u8(rest));
    const uint16x8_t high = vmlal_high_u8(vmull_high_u8(over, some), under, rest);
    vst1q_u8(to + x, vcombine_u8(over_255_1(low), over_255_1(high)));
  }
  plain_composite_1(to + x, from + x, alpha + x, count - x);
}

UPRIGHT_INLINE void neon_composite_2(upright_word *to, const upright_word *from,
                                     const uint8_t *alpha, size_t count) {
  size_t x = 0;
  for (; count - x >= 8; x += 8) {
    const uint16x8_t under = load_words(to + x), over = load_words(from + x);
    const uint8x8_t bytes = vld1_u8(alpha + x);
    const uint16x8_t some = vmovl_u8(bytes), rest = vmovl_u8(vmvn_u8(bytes));
    const uint32x4_t low = vmlal_u16(vmull_u16(vget_low_u16(over), vget_low_u16(some)),
                                     vget_low_u16(under), vget_low_u16(rest));
    const uint32x4_t high = vmlal_high_u16(vmull_high_u16(over, some), under, rest);
    store_words(to + x, vcombine_u16(over_255_2(low), over_255_2(high)));
  }
  plain_composite_2(to + x, from + x, alpha + x, count - x);
}

UPRIGHT_DEFINE_BLENDS(, neon)

void upright_init_blend_neon(upright_kernels *table) { UPRIGHT_SET_BLENDS(table); }

#endif
