// Selects the table for a CPU, and for an orientation the kernel and the signs of its strides.
#include "levels.h"

uint32_t upright_cpu_flags(void) {
#if defined(__x86_64__)
  uint32_t flags = UPRIGHT_CPU_SSE2;  // part of the architecture
  if (__builtin_cpu_supports("sse4.1")) flags |= UPRIGHT_CPU_SSE4;
  if (__builtin_cpu_supports("avx2")) flags |= UPRIGHT_CPU_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vnni")) {
    flags |= UPRIGHT_CPU_AVX512;
  }
  return flags;
#elif defined(__aarch64__)
  return UPRIGHT_CPU_NEON;  // part of the architecture
#else
  return 0;
#endif
}

uint32_t upright_usable_levels(uint32_t mask) {
  const uint32_t available = upright_cpu_flags(), flags = mask & available;
  // The levels below the lowest missing one of this architecture, whose lowest every CPU has.
  return flags & ~(flags + (available & -available));
}

void upright_kernels_init(upright_kernels *table, uint32_t mask) {
  upright_init_reference(table);
  upright_init_warp_reference(table);
  upright_init_blend_reference(table);
  const uint32_t levels = upright_usable_levels(mask);
  (void)levels;
#if defined(__x86_64__)
  if (levels & UPRIGHT_CPU_SSE2) upright_init_sse2(table);
  if (levels & UPRIGHT_CPU_AVX2) {
    upright_init_avx2(table);
    upright_init_warp_avx2(table);
    upright_init_blend_avx2(table);
  }
#elif defined(__aarch64__)
  if (levels & UPRIGHT_CPU_NEON) {
    upright_init_neon(table);
    upright_init_warp_neon(table);
    upright_init_blend_neon(table);
  }
#endif
}

static int is_size(size_t size, size_t max) { return size >= 1 && size <= max; }

void upright_turn(const upright_kernels *table, int orientation, size_t element_size, uint8_t *dst,
                  ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t src_stride, size_t width,
                  size_t height) {
  if (width == 0 || height == 0 || !is_size(element_size, UPRIGHT_MAX_ELEMENT_SIZE)) return;

  // Rows of the source, or of the transposed destination, are taken from the last to the first.
  const int source_reversed =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const int destination_reversed = orientation == 7 || orientation == 8;
  if (source_reversed) {
    src += (ptrdiff_t)(height - 1) * src_stride;
    src_stride = -src_stride;
  }
  if (destination_reversed) {
    dst += (ptrdiff_t)(width - 1) * dst_stride;
    dst_stride = -dst_stride;
  }

  upright_plane_fn kernel;
  switch (orientation) {
    case 1:
    case 4:
      kernel = table->copy[element_size];
      break;
    case 2:
    case 3:
      kernel = table->mirror[element_size];
      break;
    case 5:
    case 6:
    case 7:
    case 8: {
      const int streamed = width * height * element_size >= table->stream_bytes;
      kernel = streamed ? table->transpose_streamed[element_size] : table->transpose[element_size];
      break;
    }
    default:
      return;
  }
  kernel(dst, dst_stride, src, src_stride, width, height);
}

void upright_interleave(const upright_kernels *table, size_t component_size, uint8_t *dst,
                        ptrdiff_t dst_stride, const uint8_t *a, ptrdiff_t a_stride,
                        const uint8_t *b, ptrdiff_t b_stride, size_t width, size_t height) {
  if (width == 0 || height == 0 || !is_size(component_size, 2)) return;
  table->interleave[component_size](dst, dst_stride, a, a_stride, b, b_stride, width, height);
}

void upright_deinterleave(const upright_kernels *table, size_t component_size, uint8_t *a,
                          ptrdiff_t a_stride, uint8_t *b, ptrdiff_t b_stride, const uint8_t *src,
                          ptrdiff_t src_stride, size_t width, size_t height) {
  if (width == 0 || height == 0 || !is_size(component_size, 2)) return;
  table->deinterleave[component_size](a, a_stride, b, b_stride, src, src_stride, width, height);
}
