// The resampling: filters as Swift's FilterBank makes them, in integers because floating point may be rounded
// differently on another CPU, and filters of random coefficients.
#include "check.h"

enum { MOST_OUTPUTS = 2048, MOST_TAPS = 128, ONE = 1 << UPRIGHT_FILTER_BITS };

enum filter { IDENTITY, AREA, BILINEAR, BICUBIC, RAGGED, FILTERS };

typedef struct bank {
  uint32_t starts[MOST_OUTPUTS], counts[MOST_OUTPUTS];
  int16_t coefficients[MOST_OUTPUTS * MOST_TAPS];
} bank;

// Distances and weights have 16 fraction bits. `wider` is the radius's factor for scaling down.
static int64_t weight(enum filter filter, int64_t distance, int64_t wider) {
  const int64_t one = 1 << 16;
  const int64_t far = distance < 0 ? -distance : distance, d = far * one / wider;
  switch (filter) {
    case AREA: {
      const int64_t part = (wider + one) / 2 - far;
      return part < 0 ? 0 : part > one ? one : part;
    }
    case BILINEAR: return d < one ? one - d : 0;
    case BICUBIC: {  // a is -0.6
      const int64_t square = d * d / one, cube = square * d / one;
      if (d < one) return (14 * cube - 24 * square) / 10 + one;
      return d < 2 * one ? (-6 * cube + 30 * square - 48 * d + 24 * one) / 10 : 0;
    }
    default: return 0;
  }
}

// Writes coefficients that add up to 1 and are about proportional to the weights.
static void normalise(int16_t *to, const int64_t *weights, size_t count) {
  int64_t sum = 0, rest = ONE;
  size_t largest = 0;
  for (size_t k = 0; k < count; k++) {
    sum += weights[k];
    if (weights[k] > weights[largest]) largest = k;
  }
  int64_t magnitude = 0;
  for (size_t k = 0; k < count; k++) {
    const int64_t number = sum > 0 ? weights[k] * ONE / sum : 0;
    to[k] = (int16_t)number;
    rest -= number;
  }
  to[largest] = (int16_t)(to[largest] + rest);
  for (size_t k = 0; k < count; k++) magnitude += to[k] < 0 ? -to[k] : to[k];
  if (magnitude * 10 >= 19 * ONE) fail("a filter's magnitudes add up to %lld", (long long)magnitude);
}

// Random coefficients of both signs that add up to 1, up to the largest magnitudes that are allowed.
static void ragged(int16_t *to, size_t count) {
  int negative = count > 1 && coin() ? (int)below((size_t)(ONE * 44 / 100)) : 0;
  int positive = ONE + negative;
  memset(to, 0, count * sizeof *to);
  const size_t signs = count > 1 ? 1 + below(count - 1) : 1;
  for (size_t k = 0; k < signs; k++) {
    const int part = k + 1 == signs ? positive : (int)below((size_t)positive + 1);
    to[k] = (int16_t)part;
    positive -= part;
  }
  for (size_t k = signs; k < count; k++) {
    const int part = k + 1 == count ? negative : (int)below((size_t)negative + 1);
    to[k] = (int16_t)-part;
    negative -= part;
  }
  if (signs == count) to[0] = (int16_t)(to[0] - negative);
  for (size_t k = count; k > 1; k--) {
    const size_t other = below(k);
    const int16_t swapped = to[k - 1];
    to[k - 1] = to[other];
    to[other] = swapped;
  }
}

// Makes the filters from `from` samples to `to`. `offset` is added to all centres.
static upright_filter_bank make_bank(bank *bank, enum filter filter, size_t from, size_t to,
                                     int64_t offset, int is_reversed, int starts_even) {
  const int64_t one = 1 << 16;
  const int64_t scale = (int64_t)from * one / (int64_t)to, wider = scale > one ? scale : one;
  const int64_t radius = filter == AREA       ? (wider + one) / 2
                         : filter == BICUBIC ? 2 * wider
                                             : wider;
  memset(bank, 0, sizeof *bank);
  size_t longest = 1;
  for (size_t i = 0; i < to; i++) {
    const int64_t place = (int64_t)(is_reversed ? to - 1 - i : i);
    const int64_t last = (int64_t)from - 1;
    int64_t centre = (2 * place + 1) * (int64_t)from * one / (2 * (int64_t)to) - one / 2 + offset;
    if (centre < 0) centre = 0;
    if (centre > last * one) centre = last * one;
    int64_t first = (centre - radius + one - 1) >> 16, end = ((centre + radius) >> 16) + 1;
    if (filter == IDENTITY) first = (centre + one / 2) >> 16, end = first + 1;
    if (first < 0) first = 0;
    if (end > last + 1) end = last + 1;
    const size_t zeros = starts_even && first % 2;
    const size_t count = (size_t)(end - first);
    if (count + zeros > MOST_TAPS - 2 || i >= MOST_OUTPUTS) fail("a filter of %zu taps", count);
    int16_t *taps = bank->coefficients + MOST_TAPS * i + zeros;
    if (filter == IDENTITY) {
      taps[0] = ONE;
    } else if (filter == RAGGED) {
      ragged(taps, count);
    } else {
      int64_t weights[MOST_TAPS];
      for (size_t k = 0; k < count; k++) {
        weights[k] = weight(filter, (first + (int64_t)k) * one - centre, wider);
      }
      normalise(taps, weights, count);
    }
    bank->starts[i] = (uint32_t)(first - (int64_t)zeros);
    bank->counts[i] = (uint32_t)(count + zeros);
    if (count + zeros > longest) longest = count + zeros;
  }
  const size_t capacity = (longest + 1) / 2 * 2;
  for (size_t i = 1; i < to; i++) {
    memmove(bank->coefficients + capacity * i, bank->coefficients + MOST_TAPS * i,
            capacity * sizeof(int16_t));
  }
  return (upright_filter_bank){.count = to,
                               .capacity = capacity,
                               .starts = bank->starts,
                               .counts = bank->counts,
                               .coefficients = bank->coefficients};
}

static void run(uint32_t mask, const upright_resampling *r, plane to, plane from) {
  const size_t size = upright_resample_scratch(r);
  void *scratch = memory_at_end(SCRATCH, size);
  upright_resample_prepare(r, scratch);
  const upright_resample_fn resample = upright_resampler(mask);
  // The second time the scratch memory contains what the first time left.
  for (int i = 0; i < (mask && r->height < 40 ? 2 : 1); i++) {
    resample(r, to.base, to.stride, from.base, from.stride, scratch);
  }
}

static void check_resample(size_t components, size_t size, enum filter filter, size_t width,
                           size_t height, size_t columns, size_t rows) {
  static bank down, across;
  const int swaps = coin();
  const size_t along_y = swaps ? columns : rows, along_x = swaps ? rows : columns;
  const enum filter other = coin() ? filter : (enum filter)below(FILTERS);
  upright_resampling r = {.width = width, .height = height, .swaps_axes = swaps,
                          .components = components, .component_size = size, .bit_depth = 8};
  r.down = make_bank(&down, filter, height, along_y, between(-70000, 70000), coin(), 0);
  r.across = make_bank(&across, other, width, along_x, between(-70000, 70000), coin(), 1);
  if (size == 2) {
    r.bit_depth = (int)between(9, UPRIGHT_RESAMPLE_MAX_DEPTH);
    r.bit_shift = (int)below((size_t)(16 - r.bit_depth) + 1);
  }
  upright_resample_measure(&r);
  const size_t element = components * size;
  const plane source = make_plane(SOURCE, width * element, height);
  fill(source, (enum content)below(CONTENTS));
  const target target = make_target(0, columns * element, rows);
  begin_case("width, height, columns, rows", width, height, columns, rows);
  run(0, &r, target.expected, source);
  check_reference(&target);
  for (size_t i = 0; i < level_count; i++) {
    begin_level(&levels[i], &target);
    run(levels[i].mask, &r, target.actual, source);
    check_level(&levels[i], &target);
  }
}

void check_resampling(void) {
  static const struct {
    const char *name;
    size_t components, size;
  } formats[] = {{"resample 1x1", 1, 1}, {"resample 2x1", 2, 1}, {"resample 4x1", 4, 1},
                 {"resample 1x2", 1, 2}, {"resample 2x2", 2, 2}};
  for (size_t n = 0; n < sizeof formats / sizeof *formats; n++) {
    const size_t components = formats[n].components, size = formats[n].size;
    begin(formats[n].name);
    for (enum filter filter = 0; filter < FILTERS; filter++) {
      // Down, up, the same size, one axis each way; then long filters and several bands and runs.
      for (size_t i = 0; i < 250; i++) {
        const size_t width = 1 + below(90), height = 1 + below(90);
        const size_t columns = i % 5 ? 1 + below(90) : width, rows = i % 5 ? 1 + below(90) : height;
        check_resample(components, size, filter, width, height, columns, rows);
      }
      for (size_t i = 0; i < 12; i++) {
        const size_t width = 150 + below(300), height = 100 + below(150);
        check_resample(components, size, filter, width, height, 20 + below(300), 20 + below(200));
      }
    }
    end();
  }
}
