// Checks the kernels of every CPU level against the reference, without Swift: for CPUs whose programs run
// only in an emulator. The cases come from a random generator with fixed seeds: every CPU has the same ones.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "CUprightKernels.h"

// MARK: Random numbers.

uint64_t random_bits(void);
// Returns a number below `end`.
size_t below(size_t end);
// Returns a number from `low` to `high`.
int64_t between(int64_t low, int64_t high);
static inline int coin(void) { return (int)below(2); }

// MARK: Planes, each in a piece of memory between two pages that can't be accessed.

enum slot {
  SOURCE, SOURCE_2, SOURCE_3,
  BEFORE, EXPECTED, ACTUAL,
  BEFORE_2, EXPECTED_2, ACTUAL_2,
  SCRATCH,
  SLOTS,
};

typedef struct plane {
  uint8_t *base;
  ptrdiff_t stride;
  size_t row_bytes, height;
  // The bytes that are filled and compared: the rows, what is between them, and a margin.
  uint8_t *start;
  size_t size;
} plane;

// Lays out a plane at random: at the first byte of the memory, at the last, or with rows that begin at the
// same position in a cache line; top-down or bottom-up; with or without gaps.
plane make_plane(enum slot slot, size_t row_bytes, size_t height);
enum content { RANDOM, EXTREMES, SMOOTH, CONTENTS };
void fill(plane plane, enum content content);
// Copies all bytes of a plane with the same layout.
void copy_plane(plane to, plane from);
// Returns the last `size` bytes of a slot. A multiple of 64 bytes is aligned to 64.
void *memory_at_end(enum slot slot, size_t size);

// A destination, three times: its content before the kernel, the reference's result, and a level's result.
typedef struct target {
  plane before, expected, actual;
} target;
// `second` is for kernels with two destinations.
target make_target(int second, size_t row_bytes, size_t height);

// MARK: Levels and cases.

typedef struct level {
  const char *name;
  uint32_t mask;
  upright_kernels table;
} level;

extern level reference;
extern level levels[4];
extern size_t level_count;

// Begins a kernel with its name, for example "turn 2", on which its random numbers depend.
void begin(const char *kernel);
// Begins a case. `what` is printed with the four numbers if the case fails.
void begin_case(const char *what, size_t a, size_t b, size_t c, size_t d);
// Checks that the reference wrote nothing outside its rows.
void check_reference(const target *target);
// Prepares a level's destination.
void begin_level(const level *level, const target *target);
// Checks that a level wrote the same bytes as the reference. The highest level's are added to the checksum.
void check_level(const level *level, const target *target);
// Ends the kernel: prints its number of cases and its checksum.
void end(void);
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

void check_turns(void);
void check_pairs(void);
void check_resampling(void);
void check_warps(void);
void check_blending(void);
