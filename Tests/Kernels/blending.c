// Blends and composites: all values of one byte with all weights or alpha values, and random words.
#include "check.h"

// The destination of a blend may be a source.
enum place { SEPARATE, IN_A, IN_B };

static void blend(const level *level, size_t size, enum place place, plane to, plane a, plane b,
                  unsigned weight, size_t width, size_t height) {
  if (place != SEPARATE) {
    plane *const source = place == IN_A ? &a : &b;
    for (size_t y = 0; y < height; y++) {
      memcpy(to.base + (ptrdiff_t)y * to.stride, source->base + (ptrdiff_t)y * source->stride,
             width * size);
    }
    *source = to;
  }
  upright_blend(&level->table, size, to.base, to.stride, a.base, a.stride, b.base, b.stride, weight,
                width, height);
}

static void check_blend(size_t size, plane a, plane b, unsigned weight, size_t width,
                        size_t height) {
  const target target = make_target(0, width * size, height);
  const enum place place = (enum place)below(3);
  begin_case("weight, width, height, place", weight, width, height, place);
  blend(&reference, size, place, target.expected, a, b, weight, width, height);
  check_reference(&target);
  for (size_t i = 0; i < level_count; i++) {
    begin_level(&levels[i], &target);
    blend(&levels[i], size, place, target.actual, a, b, weight, width, height);
    check_level(&levels[i], &target);
  }
}

static void check_composite(size_t components, size_t size, plane from, plane alpha,
                            target *target, size_t width, size_t height) {
  copy_plane(target->expected, target->before);
  begin_case("width, height, first alpha", width, height, alpha.base[0], 0);
  upright_composite(&reference.table, components, size, target->expected.base,
                    target->expected.stride, from.base, from.stride, alpha.base, alpha.stride,
                    width, height);
  check_reference(target);
  for (size_t i = 0; i < level_count; i++) {
    begin_level(&levels[i], target);
    upright_composite(&levels[i].table, components, size, target->actual.base,
                      target->actual.stride, from.base, from.stride, alpha.base, alpha.stride,
                      width, height);
    check_level(&levels[i], target);
  }
}

// Fills 256 x 256 bytes with all pairs of values: with `across` the column's number, otherwise the row's.
static void enumerate(plane plane, int across) {
  for (size_t y = 0; y < 256; y++) {
    uint8_t *row = plane.base + (ptrdiff_t)y * plane.stride;
    for (size_t x = 0; x < 256; x++) row[x] = (uint8_t)(across ? x : y);
  }
}

static void check_blends(size_t size, const char *name) {
  begin(name);
  for (unsigned weight = 0; weight <= 256; weight++) {
    const plane a = make_plane(SOURCE, 256, 256), b = make_plane(SOURCE_2, 256, 256);
    fill(a, weight % 2 ? RANDOM : EXTREMES);
    fill(b, weight % 4 > 1 ? RANDOM : EXTREMES);
    if (size == 1) enumerate(a, 1), enumerate(b, 0);
    check_blend(size, a, b, weight, 256 / size, 256);
    for (size_t width = 1; width <= 70; width++) {
      const plane c = make_plane(SOURCE, width * size, 3), d = make_plane(SOURCE_2, width * size, 3);
      fill(c, RANDOM);
      fill(d, RANDOM);
      check_blend(size, c, d, weight, width, 3);
    }
  }
  end();
}

static void check_composites(size_t components, size_t size, const char *name) {
  begin(name);
  const size_t element = components * size;
  for (unsigned alpha = 0; alpha < 256; alpha++) {
    const plane from = make_plane(SOURCE, 256, 256), mask = make_plane(SOURCE_3, 256 / element, 256);
    target target = make_target(0, 256, 256);
    fill(from, alpha % 2 ? RANDOM : EXTREMES);
    fill(target.before, alpha % 4 > 1 ? RANDOM : EXTREMES);
    if (size == 1) enumerate(from, 1), enumerate(target.before, 0);
    memset(mask.start, (int)alpha, mask.size);
    check_composite(components, size, from, mask, &target, 256 / element, 256);
  }
  for (size_t width = 1; width <= 1100; width += width < 70 ? 1 : 103) {
    for (size_t height = 1; height <= 5; height++) {
      const plane from = make_plane(SOURCE, width * element, height);
      const plane mask = make_plane(SOURCE_3, width, height);
      target target = make_target(0, width * element, height);
      fill(from, RANDOM);
      fill(mask, coin() ? RANDOM : EXTREMES);
      check_composite(components, size, from, mask, &target, width, height);
    }
  }
  end();
}

void check_blending(void) {
  check_blends(1, "blend 1");
  check_blends(2, "blend 2");
  check_composites(1, 1, "composite 1x1");
  check_composites(2, 1, "composite 2x1");
  check_composites(1, 2, "composite 1x2");
  check_composites(2, 2, "composite 2x2");
}
