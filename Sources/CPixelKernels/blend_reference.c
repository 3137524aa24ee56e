// Scalar blending, and the way into all of it.
#include "blend.h"

#define BLEND_KERNEL(SIZE)                                                                    \
  static void blend_##SIZE(UPRIGHT_BLEND) {                                                   \
    for (size_t y = 0; y < height; y++) {                                                     \
      blend_rest(upright_row(dst, dst_stride, y), upright_const_row(a, a_stride, y),          \
                 upright_const_row(b, b_stride, y), weight, 0, width, SIZE);                  \
    }                                                                                         \
  }

#define COMPOSITE_KERNEL(COMPONENTS, SIZE)                                                    \
  static void composite_##COMPONENTS##x##SIZE(UPRIGHT_COMPOSITE) {                            \
    for (size_t y = 0; y < height; y++) {                                                     \
      composite_rest(upright_row(dst, dst_stride, y), upright_const_row(src, src_stride, y),  \
                     upright_const_row(alpha, alpha_stride, y), 0, width * COMPONENTS,        \
                     COMPONENTS, SIZE);                                                       \
    }                                                                                         \
  }

BLEND_KERNEL(1)
BLEND_KERNEL(2)
COMPOSITE_KERNEL(1, 1)
COMPOSITE_KERNEL(2, 1)
COMPOSITE_KERNEL(1, 2)
COMPOSITE_KERNEL(2, 2)

void upright_init_blend_reference(upright_kernels *table) {
  table->blend[1] = blend_1;
  table->blend[2] = blend_2;
  table->composite[1][1] = composite_1x1;
  table->composite[2][1] = composite_2x1;
  table->composite[1][2] = composite_1x2;
  table->composite[2][2] = composite_2x2;
}

void upright_blend(const upright_kernels *table, size_t component_size, UPRIGHT_BLEND) {
  if (width == 0 || height == 0 || component_size < 1 || component_size > 2 || weight > 256) return;
  table->blend[component_size](dst, dst_stride, a, a_stride, b, b_stride, weight, width, height);
}

void upright_composite(const upright_kernels *table, size_t components, size_t component_size,
                       UPRIGHT_COMPOSITE) {
  if (width == 0 || height == 0) return;
  if (components < 1 || components > 2 || component_size < 1 || component_size > 2) return;
  table->composite[components][component_size](dst, dst_stride, src, src_stride, alpha,
                                               alpha_stride, width, height);
}
