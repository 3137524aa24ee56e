// The warp: rotations of any angle and scale, mirrored and sheared, near and far from the source's edges.
#include "check.h"

#define ONE ((int64_t)1 << UPRIGHT_WARP_FRACTION_BITS)

static void warp(const level *level, size_t components, size_t size, plane to, size_t columns,
                 size_t rows, plane from, size_t width, size_t height,
                 const upright_warp_map *map) {
  upright_warp(&level->table, components, size, to.base, to.stride, columns, rows, from.base,
               from.stride, width, height, map);
}

static void check_warp(size_t components, size_t size, size_t columns, size_t rows, size_t width,
                       size_t height, const upright_warp_map *map) {
  const size_t element = components * size;
  const plane source = make_plane(SOURCE, width * element, height);
  fill(source, (enum content)below(CONTENTS));
  const target target = make_target(0, columns * element, rows);
  begin_case("columns, rows, width, height", columns, rows, width, height);
  warp(&reference, components, size, target.expected, columns, rows, source, width, height, map);
  check_reference(&target);
  for (size_t i = 0; i < level_count; i++) {
    begin_level(&levels[i], &target);
    warp(&levels[i], components, size, target.actual, columns, rows, source, width, height, map);
    check_level(&levels[i], &target);
  }
}

// Steps of a rotation, from the half angle's tangent, so that no number depends on a library's sine.
static void rotate(upright_warp_map *map, int64_t tangent, int64_t scale) {
  const int64_t square = tangent * tangent, whole = 65536 + square;
  const int64_t cosine = scale * (65536 - square) / whole, sine = scale * 512 * tangent / whole;
  map->ux = cosine;
  map->uy = -sine;
  map->vx = sine;
  map->vy = cosine;
}

static upright_warp_map random_map(size_t columns, size_t rows, size_t width, size_t height) {
  upright_warp_map map;
  switch (below(8)) {
    case 0:  // nearly upright
      rotate(&map, between(-20, 20), ONE + between(-ONE / 64, ONE / 64));
      break;
    case 1:
    case 2:
    case 3:
      rotate(&map, between(-256, 256), between(ONE / 4, 2 * ONE));
      break;
    case 4:  // a quarter turn, exactly or nearly
      rotate(&map, coin() ? 256 : -256, ONE);
      map.ux += between(-1, 1) * (int64_t)below(1000);
      break;
    case 5:  // only moved, by a fraction or by whole samples
      map = (upright_warp_map){.ux = ONE, .vy = ONE};
      break;
    case 6:  // up to the largest steps, which the reference draws
      map = (upright_warp_map){
          .ux = between(-256 * ONE, 256 * ONE), .uy = between(-256 * ONE, 256 * ONE),
          .vx = between(-256 * ONE, 256 * ONE), .vy = between(-256 * ONE, 256 * ONE)};
      break;
    default:
      map = (upright_warp_map){
          .ux = between(-9 * ONE / 4, 9 * ONE / 4), .uy = between(-9 * ONE / 4, 9 * ONE / 4),
          .vx = between(-9 * ONE / 4, 9 * ONE / 4), .vy = between(-9 * ONE / 4, 9 * ONE / 4)};
  }
  if (below(4) == 0) map.ux = -map.ux, map.vx = -map.vx;
  // The destination's centre is anywhere in the source, or up to a quarter of it outside.
  const int64_t w = (int64_t)width * ONE, h = (int64_t)height * ONE;
  map.u = between(-w / 4, w + w / 4) - (int64_t)columns / 2 * map.ux - (int64_t)rows / 2 * map.uy;
  map.v = between(-h / 4, h + h / 4) - (int64_t)columns / 2 * map.vx - (int64_t)rows / 2 * map.vy;
  if (below(4) == 0) {
    map.u = map.u / ONE * ONE + ONE / 2;
    map.v = map.v / ONE * ONE + ONE / 2;
  }
  return map;
}

void check_warps(void) {
  static const struct {
    const char *name;
    size_t components, size;
  } formats[] = {{"warp 1x1", 1, 1}, {"warp 2x1", 2, 1}, {"warp 1x2", 1, 2}, {"warp 2x2", 2, 2}};
  for (size_t n = 0; n < sizeof formats / sizeof *formats; n++) {
    begin(formats[n].name);
    for (size_t i = 0; i < 8000; i++) {
      const size_t most = i % 100 == 0 ? 400 : i % 4 ? 90 : 20;
      const size_t columns = 1 + below(most), rows = 1 + below(most);
      const size_t width = 1 + below(most), height = 1 + below(most);
      const upright_warp_map map = random_map(columns, rows, width, height);
      check_warp(formats[n].components, formats[n].size, columns, rows, width, height, &map);
    }
    end();
  }
}
