/* Every format of frames, turned in memory: where the samples are, with strides of both signs, and that nothing
 * is allocated once the first frames have passed, and no byte beside the rows is written. */
#include "expect.h"

/* glibc's allocator under this program's own functions, which count. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static long allocations;

void *malloc(size_t size) {
  allocations++;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  allocations++;
  return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
  allocations++;
  return __libc_realloc(block, size);
}
int posix_memalign(void **block, size_t alignment, size_t size) {
  allocations++;
  return !(*block = __libc_memalign(alignment, size));
}

/* What a format's planes are like: bytes of an element, and how often the axes are halved. */
typedef struct Format {
  int pixels, turned, planes, bytes[3], narrow, low;
} Format;

static const Format formats[] = {
  {UPRIGHT_I420, UPRIGHT_I420, 3, {1, 1, 1}, 1, 1}, {UPRIGHT_I422, UPRIGHT_I440, 3, {1, 1, 1}, 1, 0},
  {UPRIGHT_I440, UPRIGHT_I422, 3, {1, 1, 1}, 0, 1}, {UPRIGHT_I444, UPRIGHT_I444, 3, {1, 1, 1}, 0, 0},
  {UPRIGHT_NV12, UPRIGHT_NV12, 2, {1, 2}, 1, 1}, {UPRIGHT_GRAY, UPRIGHT_GRAY, 1, {1}, 0, 0},
  {UPRIGHT_RGBA, UPRIGHT_RGBA, 1, {4}, 0, 0}, {UPRIGHT_BGRA, UPRIGHT_BGRA, 1, {4}, 0, 0},
  {UPRIGHT_P010, UPRIGHT_P010, 2, {2, 4}, 1, 1}, {UPRIGHT_I420_10, UPRIGHT_I420_10, 3, {2, 2, 2}, 1, 1},
  {UPRIGHT_I422_10, UPRIGHT_I440_10, 3, {2, 2, 2}, 1, 0}, {UPRIGHT_I440_10, UPRIGHT_I422_10, 3, {2, 2, 2}, 0, 1},
  {UPRIGHT_I444_10, UPRIGHT_I444_10, 3, {2, 2, 2}, 0, 0}, {UPRIGHT_I420_12, UPRIGHT_I420_12, 3, {2, 2, 2}, 1, 1},
  {UPRIGHT_I422_12, UPRIGHT_I440_12, 3, {2, 2, 2}, 1, 0}, {UPRIGHT_I440_12, UPRIGHT_I422_12, 3, {2, 2, 2}, 0, 1},
  {UPRIGHT_I444_12, UPRIGHT_I444_12, 3, {2, 2, 2}, 0, 0}, {UPRIGHT_GRAY_10, UPRIGHT_GRAY_10, 1, {2}, 0, 0},
  {UPRIGHT_RGB24, UPRIGHT_RGB24, 1, {3}, 0, 0}, {UPRIGHT_BGR24, UPRIGHT_BGR24, 1, {3}, 0, 0},
  {UPRIGHT_GBRP, UPRIGHT_GBRP, 3, {1, 1, 1}, 0, 0}, {UPRIGHT_NV21, UPRIGHT_NV21, 2, {1, 2}, 1, 1},
};

enum { PADDING = 24, GUARD = 0xA5 };

/* A frame whose rows have padding, filled with GUARD, stored bottom-up if `up`. */
typedef struct Memory {
  upright_frame frame;
  uint8_t *blocks[3];
  int widths[3], heights[3];
} Memory;

static Memory memory_of(const Format *format, int pixels, int turned, int width, int height, int up) {
  Memory memory = {.frame = {.size = sizeof memory.frame, .pixels = pixels, .width = width, .height = height}};
  memory.frame.time_base = (upright_rational){1, 30};
  for (int plane = 0; plane < format->planes; plane++) {
    int x = plane ? (turned ? format->low : format->narrow) : 0, y = plane ? (turned ? format->narrow : format->low) : 0;
    int columns = (width + x) >> x, rows = (height + y) >> y, stride = columns * format->bytes[plane] + PADDING;
    memory.widths[plane] = columns;
    memory.heights[plane] = rows;
    memory.blocks[plane] = malloc((size_t)stride * rows);
    memset(memory.blocks[plane], GUARD, (size_t)stride * rows);
    memory.frame.planes[plane] = memory.blocks[plane] + (up ? (size_t)stride * (rows - 1) : 0);
    memory.frame.strides[plane] = up ? -stride : stride;
  }
  return memory;
}

static uint8_t *element(Memory *memory, const Format *format, int plane, int x, int y) {
  return memory->frame.planes[plane] + memory->frame.strides[plane] * y + x * format->bytes[plane];
}

/* A number for each element. Of samples with more than a byte, both bytes differ. */
static void fill(Memory *memory, const Format *format) {
  for (int plane = 0; plane < format->planes; plane++)
    for (int y = 0; y < memory->heights[plane]; y++)
      for (int x = 0; x < memory->widths[plane]; x++)
        for (int byte = 0; byte < format->bytes[plane]; byte++)
          element(memory, format, plane, x, y)[byte] = (uint8_t)(x * 3 + y * 7 + byte * 31 + plane * 5);
}

static void release(Memory *memory) {
  for (int plane = 0; plane < 3; plane++) free(memory->blocks[plane]);
}

static void check(const Format *format, int is_scaled, int up) {
  const char *options = is_scaled ? "{\"frames\": \"sensor\", \"size\": \"48x32\"}"
                                  : "{\"frames\": \"sensor\", \"size\": \"64x96\"}";
  upright_frames *frames;
  upright_layout layout = {.size = sizeof layout};
  Memory source = memory_of(format, format->pixels, 0, 96, 64, up), target = {0};
  long before = 0;
  fill(&source, format);
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_new("phone", options, &frames, &error));
  for (int frame = 0; frame < 12; frame++) {
    source.frame.pts = frame;
    if (frame == 4) before = allocations;
    EXPECT_STATUS(UPRIGHT_OK, upright_frames_layout(frames, &source.frame, &layout, &error));
    EXPECT(layout.changed == (frame == 0) && layout.pixels == format->turned && layout.turn == 6);
    if (layout.changed) target = memory_of(format, layout.pixels, 1, layout.width, layout.height, !up);
    EXPECT_STATUS(UPRIGHT_OK, upright_frames_draw(frames, &source.frame, &target.frame, &error));
  }
  EXPECT(before > 0 && allocations == before);
  for (int plane = 0; plane < format->planes; plane++) {
    int bytes = format->bytes[plane], width = target.widths[plane], height = target.heights[plane];
    for (int y = 0; y < height; y++) {
      /* Behind a row is padding, also behind the last one in memory. */
      EXPECT(element(&target, format, plane, width, y)[0] == GUARD);
      EXPECT(element(&target, format, plane, width, y)[PADDING - 1] == GUARD);
      /* A quarter turn clockwise: the left column becomes the top row, from its end. */
      for (int x = 0; !is_scaled && x < width; x++)
        if (memcmp(element(&target, format, plane, x, y), element(&source, format, plane, y, width - 1 - x), bytes)) {
          EXPECT(!"turned");
          return;
        }
    }
  }
  EXPECT(upright_frames_free(frames) == UPRIGHT_OK);
  release(&source);
  release(&target);
}

/* Two pixels of 4:2:2 in four bytes, bottom-up with padding: what is drawn is what is drawn of three planes. */
static void check_packed(int pixels, int is_scaled) {
  static const Format packed = {0, 0, 1, {4}, 0, 0}, planar = {UPRIGHT_I422, UPRIGHT_I440, 3, {1, 1, 1}, 1, 0};
  const char *options = is_scaled ? "{\"frames\": \"sensor\", \"size\": \"48x32\"}"
                                  : "{\"frames\": \"sensor\", \"size\": \"64x96\"}";
  Memory sources[2] = {memory_of(&packed, pixels, 0, 48, 64, 1), memory_of(&planar, UPRIGHT_I422, 0, 96, 64, 0)};
  Memory targets[2];
  long before = 0;
  fill(&sources[1], &planar);
  sources[0].frame.width = 96;
  for (int y = 0; y < 64; y++)
    for (int x = 0; x < 48; x++) {
      uint8_t *bytes = element(&sources[0], &packed, 0, x, y);
      int cb = pixels == UPRIGHT_YUY2 ? 1 : 3;
      bytes[0] = *element(&sources[1], &planar, 0, 2 * x, y);
      bytes[2] = *element(&sources[1], &planar, 0, 2 * x + 1, y);
      bytes[cb] = *element(&sources[1], &planar, 1, x, y);
      bytes[4 - cb] = *element(&sources[1], &planar, 2, x, y);
    }
  for (int kind = 0; kind < 2; kind++) {
    upright_frames *frames;
    upright_layout layout = {.size = sizeof layout};
    EXPECT_STATUS(UPRIGHT_OK, upright_frames_new("phone", options, &frames, &error));
    for (int frame = 0; frame < 8; frame++) {
      sources[kind].frame.pts = frame;
      if (frame == 4) before = allocations;
      EXPECT_STATUS(UPRIGHT_OK, upright_frames_layout(frames, &sources[kind].frame, &layout, &error));
      EXPECT(layout.pixels == UPRIGHT_I440 && !layout.is_identity);
      if (frame == 0) targets[kind] = memory_of(&planar, layout.pixels, 1, layout.width, layout.height, 0);
      EXPECT_STATUS(UPRIGHT_OK, upright_frames_draw(frames, &sources[kind].frame, &targets[kind].frame, &error));
    }
    EXPECT(allocations == before);
    /* Such a frame isn't drawn into. */
    EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_draw(frames, &sources[kind].frame, &sources[0].frame, &error));
    EXPECT(upright_frames_free(frames) == UPRIGHT_OK);
  }
  for (int plane = 0; plane < 3; plane++)
    EXPECT(!memcmp(targets[0].blocks[plane], targets[1].blocks[plane],
                   (size_t)targets[0].frame.strides[plane] * targets[0].heights[plane]));
  for (int kind = 0; kind < 2; kind++) {
    release(&sources[kind]);
    release(&targets[kind]);
  }
}

int main(void) {
  for (int mode = 0; mode < 4; mode++) check_packed(mode & 1 ? UPRIGHT_YUY2 : UPRIGHT_YVYU, mode >> 1);
  for (size_t index = 0; index < sizeof formats / sizeof *formats; index++)
    for (int mode = 0; mode < 4; mode++) {
      int before = failures;
      /* Pixels of three bytes aren't rescaled. */
      if (formats[index].bytes[0] == 3 && mode & 1) continue;
      check(&formats[index], mode & 1, mode >> 1);
      if (failures > before) fprintf(stderr, "format %d, mode %d\n", formats[index].pixels, mode);
    }
  if (!failures) puts("clean");
  return failures > 0;
}
