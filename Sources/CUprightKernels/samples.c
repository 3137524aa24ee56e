#include "levels.h"

void upright_copy_samples(upright_samples to, upright_samples from, size_t width, size_t height) {
  for (size_t y = 0; y < height; y++) {
    uint8_t *target = to.first + (ptrdiff_t)y * to.stride;
    const uint8_t *source = from.first + (ptrdiff_t)y * from.stride;
    for (size_t x = 0; x < width; x++) target[(ptrdiff_t)x * to.step] = source[(ptrdiff_t)x * from.step];
  }
}

// Pixels that are converted at a time, in loops that the compiler makes vectors of.
enum { BLOCK = 64 };

// The samples of a block: of chroma one for each pixel, less 128.
typedef struct block {
  int32_t luma[BLOCK], cb[BLOCK], cr[BLOCK];
} block;

static void read_samples(int32_t *to, const uint8_t *first, ptrdiff_t step, size_t x, size_t count, int shift, int less) {
  if (shift == 0 && step == 1) {
    for (size_t i = 0; i < count; i++) to[i] = first[x + i] - less;
  } else {
    for (size_t i = 0; i < count; i++) to[i] = first[(ptrdiff_t)((x + i) >> shift) * step] - less;
  }
}

static inline uint8_t byte_of(int32_t sum) {
  int32_t value = (sum + (1 << 15)) >> 16;
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

#define CONVERT const block *from, upright_rgb_matrix m, uint8_t *red, uint8_t *green, uint8_t *blue

// All of a block is computed, also where fewer pixels are used.
static inline __attribute__((always_inline)) void convert(CONVERT) {
  for (int i = 0; i < BLOCK; i++) {
    int32_t level = (from->luma[i] - m.offset) * m.luma;
    red[i] = byte_of(level + m.red_of_cr * from->cr[i]);
    green[i] = byte_of(level + m.green_of_cb * from->cb[i] + m.green_of_cr * from->cr[i]);
    blue[i] = byte_of(level + m.blue_of_cb * from->cb[i]);
  }
}

static void convert_reference(CONVERT) { convert(from, m, red, green, blue); }

#ifdef __x86_64__
// Not by target_clones: a sanitizer isn't there yet when the loader asks which of them to take.
__attribute__((target("avx2"))) static void convert_avx2(CONVERT) { convert(from, m, red, green, blue); }
#endif

void upright_rgb_of_yuv(upright_samples to, upright_samples luma, upright_samples cb, upright_samples cr, int shift_x,
                        int shift_y, const upright_rgb_matrix *matrix, size_t width, size_t height) {
  void (*best)(CONVERT) = convert_reference;
#ifdef __x86_64__
  if (upright_usable_levels(~0u) & UPRIGHT_CPU_AVX2) best = convert_avx2;
#endif
  block from = {0};
  uint8_t red[BLOCK], green[BLOCK], blue[BLOCK];
  for (size_t y = 0; y < height; y++) {
    uint8_t *target = to.first + (ptrdiff_t)y * to.stride;
    const ptrdiff_t row = (ptrdiff_t)(y >> shift_y);
    for (size_t x = 0; x < width; x += BLOCK) {
      size_t count = width - x < BLOCK ? width - x : BLOCK;
      read_samples(from.luma, luma.first + (ptrdiff_t)y * luma.stride, luma.step, x, count, 0, 0);
      if (cb.first) {
        read_samples(from.cb, cb.first + row * cb.stride, cb.step, x, count, shift_x, 128);
        read_samples(from.cr, cr.first + row * cr.stride, cr.step, x, count, shift_x, 128);
      }
      best(&from, *matrix, red, green, blue);
      for (size_t i = 0; i < count; i++, target += 3) {
        target[0] = red[i];
        target[1] = green[i];
        target[2] = blue[i];
      }
    }
  }
}
