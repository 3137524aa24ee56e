// The eight orientations, and the pairs.
#include "check.h"

static void turn(const level *level, int streamed, size_t orientation, size_t size, plane to,
                 plane from, size_t width, size_t height) {
  upright_kernels table = level->table;
  table.stream_bytes = streamed ? 0 : SIZE_MAX;
  upright_turn(&table, (int)orientation, size, to.base, to.stride, from.base, from.stride, width,
               height);
}

static void check_turn(size_t size, size_t width, size_t height, size_t orientation) {
  const plane source = make_plane(SOURCE, width * size, height);
  fill(source, RANDOM);
  const int swaps = orientation >= 5;
  const target target =
      make_target(0, (swaps ? height : width) * size, swaps ? width : height);
  begin_case("orientation, width, height", orientation, width, height, 0);
  turn(&reference, 0, orientation, size, target.expected, source, width, height);
  check_reference(&target);
  for (size_t i = 0; i < level_count; i++) {
    for (int streamed = 0; streamed <= swaps; streamed++) {
      begin_level(&levels[i], &target);
      turn(&levels[i], streamed, orientation, size, target.actual, source, width, height);
      check_level(&levels[i], &target);
    }
  }
}

void check_turns(void) {
  static const char *names[] = {"", "turn 1", "turn 2", "turn 3", "turn 4"};
  static const size_t large[][2] = {{1921, 1081}, {257, 513}, {1, 3000},  {3000, 1},
                                    {640, 19},    {17, 700},  {129, 193}, {192, 256}};
  for (size_t size = 1; size <= 4; size++) {
    begin(names[size]);
    for (size_t width = 1; width <= 70; width++) {
      for (size_t height = 1; height <= 70; height++) {
        for (size_t orientation = 1; orientation <= 8; orientation++) {
          check_turn(size, width, height, orientation);
        }
      }
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
      for (size_t orientation = 1; orientation <= 8; orientation++) {
        check_turn(size, large[i][0], large[i][1], orientation);
      }
    }
    end();
  }
}

static void check_interleave(size_t size, size_t width, size_t height) {
  const plane a = make_plane(SOURCE, width * size, height);
  const plane b = make_plane(SOURCE_2, width * size, height);
  fill(a, RANDOM);
  fill(b, RANDOM);
  const target target = make_target(0, 2 * width * size, height);
  begin_case("width, height", width, height, 0, 0);
  upright_interleave(&reference.table, size, target.expected.base, target.expected.stride, a.base,
                     a.stride, b.base, b.stride, width, height);
  check_reference(&target);
  for (size_t i = 0; i < level_count; i++) {
    begin_level(&levels[i], &target);
    upright_interleave(&levels[i].table, size, target.actual.base, target.actual.stride, a.base,
                       a.stride, b.base, b.stride, width, height);
    check_level(&levels[i], &target);
  }
}

static void check_deinterleave(size_t size, size_t width, size_t height) {
  const plane source = make_plane(SOURCE, 2 * width * size, height);
  fill(source, RANDOM);
  const target a = make_target(0, width * size, height), b = make_target(1, width * size, height);
  begin_case("width, height", width, height, 0, 0);
  upright_deinterleave(&reference.table, size, a.expected.base, a.expected.stride, b.expected.base,
                       b.expected.stride, source.base, source.stride, width, height);
  check_reference(&a);
  check_reference(&b);
  for (size_t i = 0; i < level_count; i++) {
    begin_level(&levels[i], &a);
    begin_level(&levels[i], &b);
    upright_deinterleave(&levels[i].table, size, a.actual.base, a.actual.stride, b.actual.base,
                         b.actual.stride, source.base, source.stride, width, height);
    check_level(&levels[i], &a);
    check_level(&levels[i], &b);
  }
}

void check_pairs(void) {
  static const char *names[][3] = {{"", "interleave 1", "interleave 2"},
                                   {"", "deinterleave 1", "deinterleave 2"}};
  for (int splits = 0; splits < 2; splits++) {
    for (size_t size = 1; size <= 2; size++) {
      begin(names[splits][size]);
      for (size_t width = 1; width <= 140; width++) {
        for (size_t height = 1; height <= 9; height++) {
          (splits ? check_deinterleave : check_interleave)(size, width, height);
        }
      }
      (splits ? check_deinterleave : check_interleave)(size, 961, 541);
      end();
    }
  }
}
