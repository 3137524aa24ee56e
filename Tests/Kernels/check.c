#include "check.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// MARK: Random numbers: SplitMix64.

static uint64_t state;

// FNV-1a.
static uint64_t hash(uint64_t value, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) value = (value ^ ((const uint8_t *)bytes)[i]) * 0x100000001B3;
  return value;
}

uint64_t random_bits(void) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

size_t below(size_t end) { return (size_t)(random_bits() % end); }

int64_t between(int64_t low, int64_t high) {
  return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

// MARK: Planes.

enum { SLOT_BYTES = 1 << 24, MARGIN = 128, PAGE = 1 << 16 };
static uint8_t *memory[SLOTS];

static void map_slots(void) {
  for (int i = 0; i < SLOTS; i++) {
    uint8_t *all = mmap(NULL, SLOT_BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + PAGE, SLOT_BYTES, PROT_READ | PROT_WRITE)) {
      fail("not enough memory");
    }
    memory[i] = all + PAGE;
  }
}

plane make_plane(enum slot slot, size_t row_bytes, size_t height) {
  const int kind = (int)below(3);
  size_t stride = row_bytes + (coin() ? below(80) : 0);
  if (kind == 2) stride = (stride + 63) / 64 * 64;
  const size_t bytes = (height - 1) * stride + row_bytes;
  if (bytes + 2 * MARGIN > SLOT_BYTES) fail("a plane of %zu bytes", bytes);
  size_t offset, first, end;
  if (kind == 0) {
    offset = first = 0;
    end = bytes + MARGIN;
  } else if (kind == 1) {
    offset = SLOT_BYTES - bytes;
    first = offset - MARGIN;
    end = SLOT_BYTES;
  } else {
    static const size_t phases[] = {0, 0, 1, 2, 4, 16, 31, 32, 60, 63};
    offset = 64 + phases[below(10)];
    first = 0;
    end = offset + bytes + MARGIN;
  }
  plane plane = {
      .base = memory[slot] + offset,
      .stride = (ptrdiff_t)stride,
      .row_bytes = row_bytes,
      .height = height,
      .start = memory[slot] + first,
      .size = end - first,
  };
  if (coin()) {
    plane.base += (ptrdiff_t)(height - 1) * plane.stride;
    plane.stride = -plane.stride;
  }
  return plane;
}

// Returns the same layout in another slot.
static plane same_in(enum slot slot, plane plane, enum slot from) {
  plane.base = memory[slot] + (plane.base - memory[from]);
  plane.start = memory[slot] + (plane.start - memory[from]);
  return plane;
}

void fill(plane plane, enum content content) {
  const uint64_t smooth = random_bits();
  for (size_t i = 0; i < plane.size; i += 8) {
    uint64_t bits = random_bits();
    if (content == EXTREMES) bits = (bits & 0x0101010101010101) * 0xFF;
    if (content == SMOOTH) bits = smooth + (bits & 0x0303030303030303);
    memcpy(plane.start + i, &bits, plane.size - i < 8 ? plane.size - i : 8);
  }
}

void copy_plane(plane to, plane from) { memcpy(to.start, from.start, from.size); }

void *memory_at_end(enum slot slot, size_t size) {
  if (size > SLOT_BYTES) fail("%zu bytes", size);
  return memory[slot] + SLOT_BYTES - size;
}

target make_target(int second, size_t row_bytes, size_t height) {
  const enum slot first = second ? BEFORE_2 : BEFORE;
  target target;
  target.before = make_plane(first, row_bytes, height);
  target.expected = same_in(first + 1, target.before, first);
  target.actual = same_in(first + 2, target.before, first);
  fill(target.before, RANDOM);
  copy_plane(target.expected, target.before);
  return target;
}

// MARK: Levels and cases.

level reference = {.name = "reference"};
level levels[4];
size_t level_count;

static void find_levels(void) {
#if defined(__x86_64__)
  const uint32_t sse4 = UPRIGHT_CPU_SSE2 | UPRIGHT_CPU_SSE4, avx2 = sse4 | UPRIGHT_CPU_AVX2;
  const level all[] = {
      {.name = "sse2", .mask = UPRIGHT_CPU_SSE2},
      {.name = "sse4", .mask = sse4},
      {.name = "avx2", .mask = avx2},
      {.name = "avx512", .mask = avx2 | UPRIGHT_CPU_AVX512},
  };
#else
  const level all[] = {{.name = "neon", .mask = UPRIGHT_CPU_NEON}};
#endif
  upright_kernels_init(&reference.table, 0);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if ((all[i].mask & upright_cpu_flags()) != all[i].mask) continue;
    levels[level_count] = all[i];
    upright_kernels_init(&levels[level_count].table, all[i].mask);
    level_count++;
  }
}

static struct {
  const char *kernel, *what, *level;
  size_t numbers[4];
  size_t cases;
  uint64_t checksum;
} now;

void begin(const char *kernel) {
  state = hash(0xCBF29CE484222325, kernel, strlen(kernel));
  now.kernel = kernel;
  now.cases = 0;
  now.checksum = 0;
}

void begin_case(const char *what, size_t a, size_t b, size_t c, size_t d) {
  const size_t numbers[] = {a, b, c, d};
  memcpy(now.numbers, numbers, sizeof numbers);
  now.what = what;
  now.level = reference.name;
  now.cases++;
}

void end(void) {
  printf("%-16s %7zu cases  %016llx\n", now.kernel, now.cases, (unsigned long long)now.checksum);
  fflush(stdout);
}

static void print_case(void) {
  fprintf(stderr, "check-kernels: %s, %s (%zu, %zu, %zu, %zu), case %zu, level %s: ", now.kernel,
          now.what, now.numbers[0], now.numbers[1], now.numbers[2], now.numbers[3], now.cases,
          now.level);
}

void fail(const char *format, ...) {
  print_case();
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void trap(int number) {
  // Not reentrant in general; the kernels call nothing that could hold a lock.
  print_case();
  fprintf(stderr, "an access outside its planes, signal %d\n", number);
  _exit(1);
}

void check_reference(const target *target) {
  const plane *before = &target->before, *after = &target->expected;
  const ptrdiff_t stride = after->stride < 0 ? -after->stride : after->stride;
  const uint8_t *row = after->stride < 0
                           ? after->base + (ptrdiff_t)(after->height - 1) * after->stride
                           : after->base;
  const uint8_t *from = after->start, *const end = after->start + after->size;
  for (size_t y = 0; y <= after->height; y++, row += stride) {
    const uint8_t *to = y < after->height ? row : end;
    if (memcmp(from, before->start + (from - after->start), (size_t)(to - from))) {
      fail("writes outside its rows, before row %zu", y);
    }
    if (y < after->height) from = row + after->row_bytes;
  }
}

void begin_level(const level *level, const target *target) {
  now.level = level->name;
  copy_plane(target->actual, target->before);
}

static uint64_t checksum(uint64_t value, const uint8_t *bytes, size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    value = (value ^ word) * 0x9E3779B97F4A7C15;
    value ^= value >> 29;
  }
  return hash(value, bytes, count);
}

void check_level(const level *level, const target *target) {
  const plane *expected = &target->expected, *actual = &target->actual;
  if (memcmp(expected->start, actual->start, actual->size)) {
    size_t i = 0;
    while (expected->start[i] == actual->start[i]) i++;
    const ptrdiff_t from_base = actual->start + i - actual->base;
    ptrdiff_t row = from_base / actual->stride, byte = from_base - row * actual->stride;
    if (byte < 0) {
      const int down = actual->stride < 0;
      row += down ? 1 : -1;
      byte += down ? -actual->stride : actual->stride;
    }
    fail("%d instead of %d in row %td, byte %td of %zu (stride %td)", actual->start[i],
         expected->start[i], row, byte, actual->row_bytes, actual->stride);
  }
  if (level == &levels[level_count - 1]) {
    now.checksum = checksum(now.checksum, actual->start, actual->size);
  }
}

// Fails if the highest level leaves a kernel to the reference that it should have.
static void check_table(void) {
  const upright_kernels *c = &reference.table, *top = &levels[level_count - 1].table;
  int same = upright_resampler(levels[level_count - 1].mask) == upright_resampler(0);
  for (int size = 1; size <= 4; size *= 2) {
    same |= c->mirror[size] == top->mirror[size];
    same |= c->transpose[size] == top->transpose[size];
    same |= c->transpose_streamed[size] == top->transpose_streamed[size];
  }
  for (int size = 1; size <= 2; size++) {
    same |= c->interleave[size] == top->interleave[size];
    same |= c->deinterleave[size] == top->deinterleave[size];
    same |= c->blend[size] == top->blend[size];
    for (int n = 1; n <= 2; n++) {
      same |= c->warp[n][size] == top->warp[n][size];
      same |= c->composite[n][size] == top->composite[n][size];
    }
  }
  if (same) fail("the highest level, %s, has not all kernels", levels[level_count - 1].name);
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*check)(void);
  } groups[] = {{"turns", check_turns}, {"pairs", check_pairs}, {"resampling", check_resampling},
                {"warps", check_warps}, {"blending", check_blending}};
  now.kernel = now.what = "";
  now.level = reference.name;
  map_slots();
  struct sigaction action = {.sa_handler = trap};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  find_levels();
  if (level_count == 0) fail("this CPU has no level");
  fputs("levels:", stderr);
  for (size_t i = 0; i < level_count; i++) fprintf(stderr, " %s", levels[i].name);
  fputc('\n', stderr);
  if (upright_cpu_flags() & (UPRIGHT_CPU_AVX2 | UPRIGHT_CPU_NEON)) check_table();
  // With an argument, only that group.
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    if (count < 2 || !strcmp(arguments[1], groups[i].name)) groups[i].check();
  }
}
