/* Frames in, frames out: raw frames of a phone's camera are turned upright in memory. No FFmpeg.
 *
 *     frames INPUT.y4m EVENTS.jsonl OUTPUT
 *
 *     cc frames.c -o frames $(pkg-config --cflags --libs uprightpolicy)
 *
 * INPUT is 4:2:0 with 8 bits. Each format is written to a file of its own, OUTPUT-0.y4m, OUTPUT-1.y4m, ...: a
 * program that encodes would open its encoder anew there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upright.h>

static upright_error error = {.size = sizeof error};

static void check(upright_status status) {
  if (status == UPRIGHT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", error.message, error.location, error.remedy);
  exit(status);
}

/* A frame of I420 with its planes one behind the other. */
static size_t prepare(upright_frame *frame, int width, int height) {
  size_t luma = (size_t)width * height, chroma = (size_t)((width + 1) / 2) * ((height + 1) / 2);
  frame->pixels = UPRIGHT_I420;
  frame->width = width;
  frame->height = height;
  frame->planes[0] = realloc(frame->planes[0], luma + 2 * chroma);
  if (!frame->planes[0]) abort();
  frame->planes[1] = frame->planes[0] + luma;
  frame->planes[2] = frame->planes[1] + chroma;
  frame->strides[0] = width;
  frame->strides[1] = frame->strides[2] = (width + 1) / 2;
  return luma + 2 * chroma;
}

static char *read_all(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(UPRIGHT_NO_INPUT);
  }
  char *text = calloc(1, 1 << 16);
  if (!text || !fread(text, 1, (1 << 16) - 1, file)) exit(UPRIGHT_BAD_DATA);
  fclose(file);
  return text;
}

int main(int count, char **arguments) {
  upright_frame source = {.size = sizeof source}, target = {.size = sizeof target};
  upright_layout layout = {.size = sizeof layout};
  upright_frames *frames;
  char line[256], name[1024], *json;
  int width, height, rate, scale, files = 0;
  size_t source_bytes, target_bytes = 0;
  FILE *output = NULL;
  if (count != 4) {
    fprintf(stderr, "usage: frames INPUT.y4m EVENTS.jsonl OUTPUT\n");
    return UPRIGHT_USAGE;
  }
  FILE *input = fopen(arguments[1], "rb");
  if (!input || !fgets(line, sizeof line, input)
    || sscanf(line, "YUV4MPEG2 W%d H%d F%d:%d", &width, &height, &rate, &scale) != 4) {
    fprintf(stderr, "%s: not a Y4M file\n", arguments[1]);
    return UPRIGHT_NO_INPUT;
  }
  source_bytes = prepare(&source, width, height);
  source.time_base = (upright_rational){scale, rate};

  check(upright_frames_new("phone", "{\"frames\": \"sensor\", \"size\": \"360p\"}", &frames, &error));
  /* From any thread, as the phone tells; here all at once. */
  char *events = read_all(arguments[2]);
  check(upright_frames_events(frames, events, &error));
  free(events);

  /* Each frame has a line of its own before it. */
  for (; fgets(line, sizeof line, input) && fread(source.planes[0], 1, source_bytes, input) == source_bytes;
       source.pts++) {
    check(upright_frames_layout(frames, &source, &layout, &error));
    if (layout.changed) {
      target_bytes = prepare(&target, layout.width, layout.height);
      if (output) fclose(output);
      snprintf(name, sizeof name, "%s-%d.y4m", arguments[3], files++);
      output = fopen(name, "wb");
      if (!output) {
        perror(name);
        return UPRIGHT_CANNOT_CREATE;
      }
      fprintf(output, "YUV4MPEG2 W%d H%d F%d:%d A1:1 C420\n", layout.width, layout.height, rate, scale);
      printf("frame %d: %dx%d\n", (int)source.pts, layout.width, layout.height);
    }
    check(upright_frames_draw(frames, &source, &target, &error));
    fputs("FRAME\n", output);
    fwrite(target.planes[0], 1, target_bytes, output);
  }
  check(upright_frames_decisions(frames, &json, &error));
  if (json) fputs(json, stdout);
  upright_string_free(json);
  if (output) fclose(output);
  fclose(input);
  free(source.planes[0]);
  free(target.planes[0]);
  return upright_frames_free(frames);
}
