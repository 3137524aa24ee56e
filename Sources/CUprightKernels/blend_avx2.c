// The loops of blend.h with registers of 32 bytes.
#if defined(__x86_64__)

#include "blend.h"

#define AVX2 __attribute__((target("avx2")))

UPRIGHT_DEFINE_BLENDS(AVX2, plain)

void upright_init_blend_avx2(upright_kernels *table) { UPRIGHT_SET_BLENDS(table); }

#endif
