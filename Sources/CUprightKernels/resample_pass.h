// The resampling: columns are filtered in vectors of rows, then the rows are transposed in tiles of four and
// filtered the same way. Nothing is ever gathered along a row.
//
// Included once by each level, after its operations on vectors:
//
//   INLINE, TARGET               the attributes of an inlined function, of another one
//   LANES, WORDS                 the lanes of 16 bytes of a vector, and its words
//   STEP                         the samples of two vectors, into which a vector of bytes is unpacked
//   PIECE                        the samples for which there are registers in the first filter: whole steps
//   UNIT                         the rows of the band that the second filter processes together
//   TRANSPOSE(n)                 the level's transpose of elements of n bytes
//   words, store                 a vector of words, and its store
//   widen, add_product           two vectors of words from bytes; a sum and a product
//   repeat                       a vector of four words, repeated
//   lower_row                    converts a row of the source, of words, to signed words
//   filter_words                 the first filter of words
//   turn_pairs                   transposes eight samples of WORDS / 2 rows
//   write_unit                   the second filter
#include <string.h>

#include "planes.h"
#include "resample.h"

// A resampling in progress: the planes, and the current band.
typedef struct pass {
  const upright_resampling *r;
  upright_resample_work w;
  const uint8_t *src;
  ptrdiff_t src_stride;
  // The band: rows between the filters, and the rows of the source that they need.
  size_t top;
  size_t rows;
  upright_rows needed;
  // The steps of the band, and their end.
  const uint64_t *steps;
  const uint64_t *next;
  // Its position in the destination.
  uint8_t *dst;
  ptrdiff_t dst_stride;
  // The number of outputs of the band that are written, and the sample of its first column in memory.
  size_t written;
  size_t base;
} pass;

// The distance from a band's rows to those of the next one, in bytes.
UPRIGHT_INLINE size_t next_band(const pass *p) {
  const ptrdiff_t rows = (ptrdiff_t)(p->needed.end - p->needed.first) * p->src_stride;
  return (size_t)(upright_is_reversed(&p->r->down) ? -rows : rows);
}

// Prefetches what is read after a row of a strip: the same row of the next strip, and the same strip of the next band.
UPRIGHT_INLINE void look_ahead(const uint8_t *row, size_t next_band) {
  __builtin_prefetch((const void *)((uintptr_t)row + UPRIGHT_LINE), 0, 3);
  __builtin_prefetch((const void *)((uintptr_t)row + next_band), 0, 2);
}

// Applies the first filter to a piece of a strip of bytes, for outputs `number`, `number` + `passes` and so on of the band.
// Each row is read once, and added to the outputs in progress, of which there are at most `slots`. Returns the end of
// the steps.
INLINE const uint64_t *add_rows(const pass *p, int16_t *to, const uint8_t *from, ptrdiff_t stride,
                                const uint64_t *steps, size_t number, size_t slots) {
  enum { VECTORS = PIECE / WORDS };
  const upright_filter_bank *bank = &p->r->down;
  const size_t passes = p->r->passes, ahead = next_band(p);
  const size_t output = upright_output(bank, p->top, number);
  const ptrdiff_t step = upright_is_reversed(bank) ? -UPRIGHT_PITCH : UPRIGHT_PITCH;
  const ptrdiff_t next = (ptrdiff_t)passes * step;
  from = upright_const_row(from, stride, bank->starts[output] - p->needed.first);
  to += (output - p->top) * UPRIGHT_PITCH;
  words sums[UPRIGHT_SLOTS][VECTORS];
  UNROLL for (size_t n = 0; n < slots; n++) {
    UNROLL for (size_t v = 0; v < VECTORS; v++) sums[n][v] = none();
  }
  for (size_t left = (p->rows - number + passes - 1) / passes; left > 0; steps += slots + 1) {
    look_ahead(from, ahead);
    words row[VECTORS];
    UNROLL for (size_t v = 0; v < VECTORS; v += 2) widen(row + v, from + v * WORDS);
    from += stride;
    UNROLL for (size_t n = 0; n < slots; n++) {
      const words factor = repeat(steps + n);
      UNROLL for (size_t v = 0; v < VECTORS; v++) {
        sums[n][v] = add_product(sums[n][v], row[v], factor);
      }
    }
    for (size_t n = (size_t)steps[slots]; n > 0; n--, left--, to += next) {
      UNROLL for (size_t v = 0; v < VECTORS; v++) {
        store(to + v * WORDS, sums[0][v]);
        UNROLL for (size_t k = 1; k < slots; k++) sums[k - 1][v] = sums[k][v];
        sums[slots - 1][v] = none();
      }
    }
  }
  return steps;
}

// Applies the first filter to a strip of bytes, with the number of slots as a constant: the sums stay in registers.
TARGET static void add_strip(pass *p, const uint8_t *from, ptrdiff_t stride, size_t count) {
  for (size_t i = 0; i < count; i += PIECE) {
    p->next = p->steps;
    for (size_t n = 0; n < upright_min(p->r->passes, p->rows); n++) {
      switch (p->r->slots) {
#define CASE(N) \
  case N: p->next = add_rows(p, p->w.stage + i, from + i, stride, p->next, n, N); break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
        default: p->next = add_rows(p, p->w.stage + i, from + i, stride, p->next, n, UPRIGHT_SLOTS);
#undef CASE
      }
    }
  }
}

// Transposes a strip. The lanes of a vector have rows that are apart, so that those of a packed vector of the second
// filter are in order.
INLINE void turn_strip(const pass *p, size_t begin, size_t count, size_t components, size_t size) {
  // The rows in a lane of a packed vector.
  const size_t lane = 16 / size;
  int16_t *band = p->w.band + (begin - p->base) * UPRIGHT_BAND;
  for (size_t i = 0; i < count; i += 8) {
    // Where bytes have been unpacked, the lanes of the second vector of a step go between those of the first.
    const size_t place = size == 2 ? i : i / STEP * STEP + i % WORDS * 2 + i % STEP / WORDS * 8;
    int16_t *to = band + place * UPRIGHT_BAND;
    for (size_t top = 0; top < p->rows; top += lane * LANES) {
      UNROLL for (size_t n = 0; n < lane; n += 4, to += WORDS) {
        turn_pairs(to, p->w.stage + (top + n) * UPRIGHT_PITCH + i, lane * UPRIGHT_PITCH, components);
      }
    }
  }
}

// Applies the first filter to a strip of the band, and transposes it.
INLINE void fill_strip(pass *p, size_t begin, size_t components, size_t size) {
  const upright_resampling *r = p->r;
  const size_t count = upright_min(UPRIGHT_STRIP, r->width * components - begin);
  const size_t whole = (count + PIECE - 1) / PIECE * PIECE, rows = p->needed.end - p->needed.first;
  const uint8_t *from = upright_const_row(p->src, p->src_stride, p->needed.first) + begin * size;
  ptrdiff_t stride = p->src_stride;
  if (size == 2) {
    const upright_filter_bank *bank = &r->down;
    for (size_t y = 0; y < rows; y++, from += stride) {
      look_ahead(from, next_band(p));
      lower_row(p->w.wide + y * UPRIGHT_PITCH, from, count, r);
    }
    for (size_t n = 0; n < p->rows; n++) {
      const size_t j = p->top + n, y = bank->starts[j] - p->needed.first;
      filter_words(p->w.stage + n * UPRIGHT_PITCH, p->w.wide + y * UPRIGHT_PITCH, upright_taps(bank, j),
                   bank->counts[j], whole, upright_down_shift(r));
    }
  } else {
    if (count < whole) {
      // A piece consists of whole vectors, which the end of a row doesn't have.
      uint8_t *copy = (uint8_t *)p->w.wide;
      for (size_t y = 0; y < rows; y++, from += stride) memcpy(copy + y * UPRIGHT_STRIP, from, count);
      from = copy;
      stride = UPRIGHT_STRIP;
    }
    add_strip(p, from, stride, whole);
  }
  turn_strip(p, begin, whole, components, size);
}

INLINE void write_column(const upright_resampling *r, uint8_t *to, size_t rows, const int16_t *from, const int16_t *taps,
                         size_t count, size_t components, size_t size, size_t pairs) {
  for (size_t top = 0; top < rows; top += UNIT) {
    write_unit(to + top * components * size, from + 2 * top, taps, count, r, components, size, pairs);
  }
}

// Applies the second filter, to the destination's rows: each output of the band is a piece of one. Writes the
// outputs for which the band's columns up to `end` are sufficient, while these are in the cache, then moves
// the columns that the next output needs to the front.
INLINE void write_rows(pass *p, size_t end, size_t components, size_t size, size_t pairs) {
  enum { AHEAD = 16 };
  // Copies, which no store can change.
  const upright_resampling *const r = p->r;
  const upright_filter_bank bank = r->across;
  const int is_reversed = upright_is_reversed(&bank);
  const ptrdiff_t stride = p->dst_stride, ahead = is_reversed ? -AHEAD * stride : AHEAD * stride;
  const size_t rows = p->rows, base = p->base;
  const int is_whole = rows % UNIT == 0;
  uint8_t *const dst = p->dst, *const tile = p->w.tile;
  int16_t *const band = p->w.band;
  size_t written = p->written, next = end;
  for (; written < bank.count; written++) {
    const size_t i = is_reversed ? bank.count - 1 - written : written;
    const size_t start = bank.starts[i], count = bank.counts[i];
    if ((start + count) * components > end) {
      next = upright_min(start * components, end);
      break;
    }
    uint8_t *to = upright_row(dst, stride, i);
    __builtin_prefetch((const void *)((uintptr_t)to + (uintptr_t)ahead), 1, 3);
    write_column(r, is_whole ? to : tile, rows, band + (start * components - base) * UPRIGHT_BAND,
                 bank.coefficients + bank.capacity * i, count, components, size, pairs);
    if (!is_whole) memcpy(to, tile, rows * components * size);
  }
  p->written = written;
  if (written == bank.count) return;
  memmove(band, band + (next - base) * UPRIGHT_BAND, (end - next) * UPRIGHT_BAND * sizeof(int16_t));
  p->base = next;
}

// Applies the second filter, to the destination's columns, through a tile that is transposed back.
INLINE void write_columns(const pass *p, size_t components, size_t size, size_t pairs,
                          upright_plane_fn transpose) {
  const upright_filter_bank *bank = &p->r->across;
  const size_t element = components * size;
  const ptrdiff_t tile_stride = (ptrdiff_t)(UPRIGHT_BAND * element);
  for (size_t left = 0; left < bank->count; left += UPRIGHT_BAND) {
    const size_t columns = upright_min(UPRIGHT_BAND, bank->count - left);
    for (size_t n = 0; n < columns; n++) {
      const size_t i = left + n;
      write_column(p->r, upright_row(p->w.tile, tile_stride, n), p->rows,
                   p->w.band + bank->starts[i] * components * UPRIGHT_BAND, upright_taps(bank, i), bank->counts[i],
                   components, size, pairs);
    }
    transpose(p->dst + left * element, p->dst_stride, p->w.tile, tile_stride, p->rows, columns);
  }
}

// Applies the second filter, with the number of pairs as a constant for common numbers.
INLINE void write_band(pass *p, size_t end, size_t components, size_t size,
                       upright_plane_fn transpose) {
  const size_t pairs = p->r->across.capacity / 2;
  if (!p->r->swaps_axes) {
    // All at once, because a tile's columns are neighbours.
    if (end == p->r->width * components) write_columns(p, components, size, pairs, transpose);
    return;
  }
  switch (pairs) {
#define CASE(N) \
  case N: write_rows(p, end, components, size, N); break;
    CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
    default: write_rows(p, end, components, size, pairs);
#undef CASE
  }
}

INLINE void resample(pass p, uint8_t *dst, size_t components, size_t size,
                     upright_plane_fn transpose) {
  const upright_resampling *r = p.r;
  const size_t samples = r->width * components;
  for (p.top = 0; p.top < r->down.count; p.top += UPRIGHT_BAND) {
    p.rows = upright_min(UPRIGHT_BAND, r->down.count - p.top);
    p.needed = upright_rows_of(&r->down, p.top, p.rows);
    p.dst = r->swaps_axes ? dst + p.top * components * size : upright_row(dst, p.dst_stride, p.top);
    p.written = 0;
    p.base = 0;
    for (size_t begin = 0; begin < samples; begin += UPRIGHT_STRIP) {
      fill_strip(&p, begin, components, size);
      write_band(&p, upright_min(begin + UPRIGHT_STRIP, samples), components, size, transpose);
    }
    p.steps = p.next;
  }
}

INLINE void resample_any(const upright_resampling *r, uint8_t *dst, ptrdiff_t dst_stride,
                         const uint8_t *src, ptrdiff_t src_stride, void *scratch) {
  const upright_resample_work w = upright_resample_layout(r, scratch);
  const pass p = {.r = r,
                  .w = w,
                  .src = src,
                  .src_stride = src_stride,
                  .steps = w.steps,
                  .dst_stride = dst_stride};
  if (r->component_size == 1 && r->components == 1) {
    resample(p, dst, 1, 1, TRANSPOSE(1));
  } else if (r->component_size == 1 && r->components == 2) {
    resample(p, dst, 2, 1, TRANSPOSE(2));
  } else if (r->component_size == 1) {
    resample(p, dst, 4, 1, TRANSPOSE(4));
  } else if (r->components == 1) {
    resample(p, dst, 1, 2, TRANSPOSE(2));
  } else {
    resample(p, dst, 2, 2, TRANSPOSE(4));
  }
}
