/* Upright frames out of a file: prints each format, and the green of its first pixel.
 *
 *     reader INPUT
 *
 *     cc reader.c -o reader $(pkg-config --cflags --libs upright)
 */
#include <stdio.h>
#include <upright.h>

int main(int count, char **arguments) {
  upright_error error = {.size = sizeof error};
  upright_read_frame read = {.size = sizeof read};
  upright_reader *reader;
  upright_status status = upright_reader_new(count > 1 ? arguments[1] : "", "{\"pixels\": \"rgb24\"}", &reader, &error);
  if (!status) {
    while ((status = upright_reader_next(reader, &read, &error)) == UPRIGHT_OK)
      if (read.changed)
        printf("%.3f s: %dx%d, turned %d, green %d\n", read.seconds, read.frame.width, read.frame.height, read.turn,
          read.frame.planes[0][1]);
    upright_reader_free(reader);
  }
  if (status != UPRIGHT_END) fprintf(stderr, "%s: %s: %s\n", error.message, error.location, error.remedy);
  return status == UPRIGHT_END ? 0 : status;
}
