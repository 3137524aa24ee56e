// AVX2.
#if defined(__x86_64__)

#include <immintrin.h>

#include "levels.h"

void upright_init_avx2(upright_kernels *table) { (void)table; }

#endif
