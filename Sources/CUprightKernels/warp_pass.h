// The warp in rows or columns. A level draws rows as long as they aren't steep. For rotations steeper than 45
// degrees the columns take the place of the rows: they are drawn into tiles, which are then transposed.
//
// Included once by each level, which first defines:
//
//   TARGET          the attribute of a function
//   TRANSPOSE(n)    the level's transpose of elements of n bytes
//   warp_rows       draws a drawable map row by row
#pragma once

#include "warp.h"

// Draws the columns of the destination, in tiles that are then transposed.
static void warp_columns(UPRIGHT_WARP, upright_warp_fn rows, int size) {
  enum { TILE = 64 };
  static const upright_plane_fn transpose[] = {
      NULL, TRANSPOSE(1), TRANSPOSE(2), NULL, TRANSPOSE(4)};
  uint8_t drawn[TILE * TILE * 4], turned[TILE * TILE * 4];
  __builtin_memset(drawn, 0, sizeof drawn);
  const ptrdiff_t pitch = TILE * size;
  for (size_t top = 0; top < dst_height; top += TILE) {
    const size_t height = upright_min(dst_height - top, TILE);
    int64_t first[TILE], last[TILE], left = INT64_MAX, right = 0;
    for (size_t y = 0; y < height; y++) {
      warp_span(map, (int64_t)(top + y), dst_width, src_width, src_height, &first[y], &last[y]);
      if (first[y] == last[y]) continue;
      if (first[y] < left) left = first[y];
      if (last[y] > right) right = last[y];
    }
    for (int64_t x = left; x < right; x += TILE) {
      const size_t width = upright_min((size_t)(right - x), TILE);
      const upright_warp_map columns = {
          .u = map->u + x * map->ux + (int64_t)top * map->uy, .ux = map->uy, .uy = map->ux,
          .v = map->v + x * map->vx + (int64_t)top * map->vy, .vx = map->vy, .vy = map->vx,
      };
      rows(drawn, pitch, height, width, src, src_stride, src_width, src_height, &columns);
      transpose[size](turned, pitch, drawn, pitch, height, width);
      for (size_t y = 0; y < height; y++) {
        const int64_t from = first[y] > x ? first[y] : x;
        const int64_t to = last[y] < x + TILE ? last[y] : x + TILE;
        if (from >= to) continue;
        __builtin_memcpy(upright_row(dst, dst_stride, top + y) + from * size,
                         turned + (ptrdiff_t)y * pitch + (from - x) * size,
                         (size_t)((to - from) * size));
      }
    }
  }
}

// Draws by rows or by columns, whichever is flatter. The reference draws the rest: transforms that shrink to
// less than a half, and sources narrower than a load.
static void warp(UPRIGHT_WARP, upright_warp_fn rows, upright_warp_fn reference, int size) {
  const int is_wide = src_width >= (size_t)(16 / size);
  const int across = is_wide && warp_is_drawable(map->ux, map->vx, size);
  const int down = is_wide && warp_is_drawable(map->uy, map->vy, size);
  if (down && (!across || warp_magnitude(map->vy) < warp_magnitude(map->vx))) {
    warp_columns(dst, dst_stride, dst_width, dst_height, src, src_stride, src_width, src_height,
                 map, rows, size);
  } else {
    const upright_warp_fn kernel = across ? rows : reference;
    kernel(dst, dst_stride, dst_width, dst_height, src, src_stride, src_width, src_height, map);
  }
}

#define KERNEL(COMPONENTS, SIZE)                                                               \
  TARGET static void rows_##COMPONENTS##x##SIZE(UPRIGHT_WARP) {                                \
    warp_rows(dst, dst_stride, dst_width, dst_height, src, src_stride, src_width, src_height,  \
              map, COMPONENTS, SIZE);                                                          \
  }                                                                                            \
  static void warp_##COMPONENTS##x##SIZE(UPRIGHT_WARP) {                                       \
    warp(dst, dst_stride, dst_width, dst_height, src, src_stride, src_width, src_height, map,  \
         rows_##COMPONENTS##x##SIZE, upright_warp_##COMPONENTS##x##SIZE##_c,                   \
         COMPONENTS * SIZE);                                                                   \
  }

KERNEL(1, 1)
KERNEL(2, 1)
KERNEL(1, 2)
KERNEL(2, 2)

#define UPRIGHT_SET_WARPS(TABLE)    \
  do {                              \
    (TABLE)->warp[1][1] = warp_1x1; \
    (TABLE)->warp[2][1] = warp_2x1; \
    (TABLE)->warp[1][2] = warp_1x2; \
    (TABLE)->warp[2][2] = warp_2x2; \
  } while (0)
