// Selects the resampling for a CPU, and lays out its working memory.
#include "resample.h"

// Reserves `bytes` bytes at `offset` and advances it to the next cache line. Returns their start.
static uint8_t *take(uint8_t *base, size_t *offset, size_t bytes) {
  uint8_t *part = base ? base + *offset : NULL;
  *offset += (bytes + 63) / 64 * 64;
  return part;
}

upright_resample_work upright_resample_layout(const upright_resampling *r, void *scratch) {
  size_t rows = 0;
  for (size_t j = 0; j < r->down.count; j += UPRIGHT_GROUP) {
    const upright_rows group = upright_rows_of(&r->down, j, UPRIGHT_GROUP);
    if (group.end - group.first > rows) rows = group.end - group.first;
  }
  const size_t run = UPRIGHT_PITCH * sizeof(int16_t);
  // Whole runs, and the samples that the last outputs multiply by 0. The one row that the reference stores is
  // smaller.
  const size_t samples =
      (r->width * r->components + UPRIGHT_RUN - 1) / UPRIGHT_RUN * UPRIGHT_RUN +
      r->across.capacity * r->components;
  upright_resample_work w;
  size_t size = 0;
  w.stage = (int16_t *)take(scratch, &size, UPRIGHT_GROUP * run);
  // One extra row: the other half of an odd row's pair.
  w.wide = (int16_t *)take(scratch, &size, (rows + 1) * run);
  w.band = (int16_t *)take(scratch, &size, samples * UPRIGHT_BAND * sizeof(int16_t));
  w.tile = take(scratch, &size, UPRIGHT_BAND * UPRIGHT_BAND * UPRIGHT_MAX_ELEMENT_SIZE);
  w.size = size;
  return w;
}

size_t upright_resample_scratch(const upright_resampling *r) {
  return upright_resample_layout(r, NULL).size;
}

int upright_bank_is_coarse(const upright_filter_bank *bank) {
  for (size_t i = 0; i < bank->count; i++) {
    const int16_t *taps = upright_taps(bank, i);
    const size_t count = bank->counts[i], half = (count + 1) / 2;
    for (size_t k = 0; k < half; k++) {
      const int a = taps[k], b = k + half < count ? taps[k + half] : 0;
      if (a % 128 != 0 || b % 128 != 0) return 0;
      // A pair's sum has 16 bits, a coefficient has eight.
      const int most = (a > 0 ? a : 0) + (b > 0 ? b : 0), least = (a < 0 ? a : 0) + (b < 0 ? b : 0);
      if (a > 127 * 128 || b > 127 * 128 || most > 128 * 128 || least < -128 * 128) return 0;
    }
  }
  return 1;
}

upright_resample_fn upright_resampler(uint32_t mask) {
  const uint32_t levels = upright_usable_levels(mask);
  (void)levels;
#if defined(__x86_64__)
  if (levels & UPRIGHT_CPU_AVX512) return upright_resample_avx512;
  if (levels & UPRIGHT_CPU_AVX2) return upright_resample_avx2;
  if (levels & UPRIGHT_CPU_SSE4) return upright_resample_sse4;
#elif defined(__aarch64__)
  if (levels & UPRIGHT_CPU_NEON) return upright_resample_neon;
#endif
  return upright_resample_c;
}
