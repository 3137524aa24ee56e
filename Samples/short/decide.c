/* Decides what an app shows: events in JSON Lines from standard input, decisions and formats as JSON. No FFmpeg. */
#include <stdio.h>
#include <upright.h>

int main(void) {
  static char events[1 << 20];
  upright_error error = {.size = sizeof error};
  char *json;
  events[fread(events, 1, sizeof events - 1, stdin)] = 0;
  if (upright_explain("phone", events, &json, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  fputs(json, stdout);
  upright_string_free(json);
}
