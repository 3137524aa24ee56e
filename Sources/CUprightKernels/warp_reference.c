// The scalar warp, and the function that calls the warp of a table.
#include "warp.h"

UPRIGHT_INLINE void warp(UPRIGHT_WARP, size_t components, size_t component_size) {
  const size_t size = components * component_size;
  for (size_t y = 0; y < dst_height; y++) {
    int64_t first, last;
    warp_span(map, (int64_t)y, dst_width, src_width, src_height, &first, &last);
    int64_t u = map->u + (int64_t)y * map->uy + first * map->ux;
    int64_t v = map->v + (int64_t)y * map->vy + first * map->vx;
    uint8_t *to = upright_row(dst, dst_stride, y) + (size_t)first * size;
    for (int64_t x = first; x < last; x++, to += size, u += map->ux, v += map->vx) {
      warp_element(to, src, src_stride, src_width, src_height, u, v, components, component_size);
    }
  }
}

#define WARP_KERNEL(COMPONENTS, SIZE)                                                          \
  void upright_warp_##COMPONENTS##x##SIZE##_c(UPRIGHT_WARP) {                                  \
    warp(dst, dst_stride, dst_width, dst_height, src, src_stride, src_width, src_height, map,  \
         COMPONENTS, SIZE);                                                                    \
  }

WARP_KERNEL(1, 1)
WARP_KERNEL(2, 1)
WARP_KERNEL(1, 2)
WARP_KERNEL(2, 2)

void upright_init_warp_reference(upright_kernels *table) {
  table->warp[1][1] = upright_warp_1x1_c;
  table->warp[2][1] = upright_warp_2x1_c;
  table->warp[1][2] = upright_warp_1x2_c;
  table->warp[2][2] = upright_warp_2x2_c;
}

UPRIGHT_INLINE int is_within(int64_t value, int64_t limit) {
  return value >= -limit && value <= limit;
}

void upright_warp(const upright_kernels *table, size_t components, size_t component_size,
                  UPRIGHT_WARP) {
  if (dst_width == 0 || dst_height == 0 || src_width == 0 || src_height == 0) return;
  const size_t most = UPRIGHT_WARP_MAX_SIDE;
  if (dst_width > most || dst_height > most || src_width > most || src_height > most) return;
  if (components < 1 || components > 2 || component_size < 1 || component_size > 2) return;
  const int64_t step = UPRIGHT_WARP_MAX_STEP * WARP_ONE, start = UPRIGHT_WARP_MAX_START * WARP_ONE;
  if (!is_within(map->ux, step) || !is_within(map->uy, step) || !is_within(map->vx, step) ||
      !is_within(map->vy, step) || !is_within(map->u, start) || !is_within(map->v, start)) {
    return;
  }
  table->warp[components][component_size](dst, dst_stride, dst_width, dst_height, src, src_stride,
                                          src_width, src_height, map);
}
