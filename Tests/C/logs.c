/* Messages of FFmpeg by reader: two damaged inputs are read at once, and each callback has what concerns its own. The
 * caller expects nothing on standard error.
 *
 *     logs DAMAGED OTHER WHOLE */
#include "expect.h"

#include <stdatomic.h>

/* What a callback was told. */
typedef struct Told {
  atomic_int lines, released;
} Told;

static void on_line(void *context, int32_t level, const char *line) {
  Told *told = context;
  EXPECT(level <= 24 && line[0]);
  EXPECT(!told->released);
  told->lines++;
}

static void on_release(void *context) { ((Told *)context)->released++; }

static upright_reader *reader_of(const char *input, Told *told) {
  upright_reader *reader = NULL;
  EXPECT_STATUS(UPRIGHT_OK, upright_log_scope(24, on_line, told, on_release, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_new(input, NULL, &reader, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_log_scope(24, NULL, NULL, NULL, &error));
  return reader;
}

static int next(upright_reader *reader) {
  upright_read_frame frame = {.size = sizeof frame};
  return upright_reader_next(reader, &frame, NULL) == UPRIGHT_OK;
}

int main(int count, char **names) {
  Told told[3] = {0};
  upright_reader *readers[3];
  if (count != 4) return 64;
  for (int index = 0; index < 3; index++) readers[index] = reader_of(names[index + 1], &told[index]);
  for (int goes_on = 1; goes_on;) {
    goes_on = 0;
    for (int index = 0; index < 3; index++) goes_on |= next(readers[index]);
  }
  /* The damaged ones are told of, each alone; nothing is told of the whole one. */
  EXPECT(told[0].lines > 0 && told[1].lines > 0 && told[2].lines == 0);
  int before = told[1].lines;
  EXPECT(upright_reader_free(readers[0]) == UPRIGHT_OK);
  EXPECT(told[0].released == 1 && told[1].released == 0);
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_seek(readers[1], 0, &error));
  while (next(readers[1])) {}
  EXPECT(told[1].lines > before);
  for (int index = 1; index < 3; index++) EXPECT(upright_reader_free(readers[index]) == UPRIGHT_OK);
  for (int index = 0; index < 3; index++) EXPECT(told[index].released == 1);

  EXPECT_STATUS(UPRIGHT_USAGE, upright_log_scope(57, on_line, told, NULL, &error));
  char *json = NULL;
  Told probing = {0};
  EXPECT_STATUS(UPRIGHT_OK, upright_log_scope(16, on_line, &probing, NULL, &error));
  upright_probe(names[2], &json, NULL);
  upright_string_free(json);
  EXPECT(probing.lines > 0);
  if (!failures) puts("clean");
  return failures > 0;
}
