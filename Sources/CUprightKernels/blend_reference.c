// Blending for every CPU, and the functions that call the blending of a table.
#include "blend.h"

UPRIGHT_DEFINE_BLENDS(, plain)

void upright_init_blend_reference(upright_kernels *table) { UPRIGHT_SET_BLENDS(table); }

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
