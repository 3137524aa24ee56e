// Selects the resampling for a CPU, and lays out its working memory.
#include <string.h>

#include "resample.h"

// Reserves `bytes` bytes at `offset` and advances it to the next cache line. Returns their start.
static uint8_t *take(uint8_t *base, size_t *offset, size_t bytes) {
  uint8_t *part = base ? base + *offset : NULL;
  *offset += (bytes + 63) / 64 * 64;
  return part;
}

upright_resample_work upright_resample_layout(const upright_resampling *r, void *scratch) {
  const size_t row = UPRIGHT_PITCH * sizeof(int16_t);
  // Whole strips, and the samples that the last outputs multiply by 0. The one row that the reference stores is
  // smaller.
  const size_t samples =
      (r->width * r->components + UPRIGHT_STRIP - 1) / UPRIGHT_STRIP * UPRIGHT_STRIP +
      r->across.capacity * r->components;
  upright_resample_work w;
  size_t size = 0;
  w.stage = (int16_t *)take(scratch, &size, UPRIGHT_BAND * row);
  // One extra row: the other half of an odd row's pair.
  w.wide = (int16_t *)take(scratch, &size, (r->reach + 1) * row);
  w.band = (int16_t *)take(scratch, &size, samples * UPRIGHT_BAND * sizeof(int16_t));
  w.tile = take(scratch, &size, UPRIGHT_BAND * UPRIGHT_BAND * UPRIGHT_MAX_ELEMENT_SIZE);
  w.steps = (uint64_t *)take(scratch, &size, r->steps * (r->slots + 1) * sizeof(uint64_t));
  w.size = size;
  return w;
}

size_t upright_resample_scratch(const upright_resampling *r) {
  return upright_resample_layout(r, NULL).size;
}

// The steps of a pass over a band, and the most outputs that are in progress at a time.
typedef struct walk {
  size_t steps;
  size_t overlap;
} walk;

// Walks along the rows that outputs `pass`, `pass` + `passes` and so on of the band from `top` on read. Writes the steps
// to `to` if it isn't null.
static walk walk_rows(const upright_resampling *r, size_t top, size_t pass, size_t passes,
                      uint64_t *to) {
  const upright_filter_bank *bank = &r->down;
  const size_t outputs = upright_min(UPRIGHT_BAND, bank->count - top);
  walk walk = {0, 0};
  // Outputs in the order of the rows that they read.
  size_t oldest = pass, next = pass;
  size_t y = pass < outputs ? bank->starts[upright_output(bank, top, pass)] : 0;
  for (; oldest < outputs; y++, walk.steps++) {
    while (next < outputs && bank->starts[upright_output(bank, top, next)] <= y) next += passes;
    if ((next - oldest) / passes > walk.overlap) walk.overlap = (next - oldest) / passes;
    for (size_t n = 0; to && n < r->slots; n++) {
      uint16_t tap = 0;
      if (oldest + n * passes < next) {
        const size_t output = upright_output(bank, top, oldest + n * passes);
        const size_t k = y - bank->starts[output];
        if (k < bank->counts[output]) tap = (uint16_t)upright_taps(bank, output)[k];
      }
      *to++ = tap * UINT64_C(0x0001000100010001);
    }
    size_t completed = 0;
    for (; oldest < next; oldest += passes, completed++) {
      const size_t output = upright_output(bank, top, oldest);
      if (bank->starts[output] + bank->counts[output] > y + 1) break;
    }
    if (to) *to++ = completed;
  }
  return walk;
}

void upright_resample_measure(upright_resampling *r) {
  r->reach = r->slots = r->passes = r->steps = 0;
  size_t overlap = 0;
  for (size_t top = 0; top < r->down.count; top += UPRIGHT_BAND) {
    const upright_rows rows = upright_rows_of(&r->down, top, UPRIGHT_BAND);
    if (rows.end - rows.first > r->reach) r->reach = rows.end - rows.first;
    const walk walk = walk_rows(r, top, 0, 1, NULL);
    if (walk.overlap > overlap) overlap = walk.overlap;
  }
  if (r->component_size > 1) return;
  r->passes = (overlap + UPRIGHT_SLOTS - 1) / UPRIGHT_SLOTS;
  r->slots = (overlap + r->passes - 1) / r->passes;
  for (size_t top = 0; top < r->down.count; top += UPRIGHT_BAND) {
    for (size_t pass = 0; pass < r->passes; pass++) {
      r->steps += walk_rows(r, top, pass, r->passes, NULL).steps;
    }
  }
}

void upright_resample_prepare(const upright_resampling *r, void *scratch) {
  const upright_resample_work w = upright_resample_layout(r, scratch);
  memset(scratch, 0, w.size);
  uint64_t *steps = w.steps;
  for (size_t top = 0; top < r->down.count; top += UPRIGHT_BAND) {
    for (size_t pass = 0; pass < r->passes; pass++) {
      steps += walk_rows(r, top, pass, r->passes, steps).steps * (r->slots + 1);
    }
  }
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
