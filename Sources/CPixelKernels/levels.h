// What each CPU level puts into the table. A level overwrites only what it does better than the
// levels below it.
#pragma once

#include "CPixelKernels.h"

void upright_init_reference(upright_kernels *table);

#if defined(__x86_64__)
void upright_init_sse2(upright_kernels *table);
void upright_init_avx2(upright_kernels *table);
#endif

// Row `y` of a plane.
static inline uint8_t *upright_row(uint8_t *base, ptrdiff_t stride, size_t y) {
  return base + (ptrdiff_t)y * stride;
}

static inline const uint8_t *upright_const_row(const uint8_t *base, ptrdiff_t stride, size_t y) {
  return base + (ptrdiff_t)y * stride;
}

static inline size_t upright_min(size_t a, size_t b) { return a < b ? a : b; }
