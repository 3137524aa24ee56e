// SSE2: every x86-64 CPU.
#if defined(__x86_64__)

#include <emmintrin.h>

#include "levels.h"

void upright_init_sse2(upright_kernels *table) { (void)table; }

#endif
