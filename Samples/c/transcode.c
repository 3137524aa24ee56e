/* A whole file: progress and decisions arrive while it runs, and Ctrl-C ends it without an output.
 *
 *     transcode INPUT EVENTS.jsonl OUTPUT
 *
 *     cc transcode.c -o transcode $(pkg-config --cflags --libs upright)
 */
#include <signal.h>
#include <stdio.h>
#include <upright.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* Called while upright_transcode_run waits. What isn't 0 cancels. */
static int32_t receive(void *context, const upright_update *update) {
  int *frames = context;
  if (update->kind == UPRIGHT_UPDATE_PROGRESS) *frames = (int)update->frames;
  else printf("%s\n", update->json);
  return interrupted;
}

int main(int count, char **arguments) {
  upright_error error = {.size = sizeof error};
  upright_transcode *transcode = NULL;
  char events[4096] = "", *report = NULL;
  int frames = 0;
  if (count != 4) {
    fprintf(stderr, "usage: transcode INPUT EVENTS.jsonl OUTPUT\n");
    return UPRIGHT_USAGE;
  }
  FILE *file = fopen(arguments[2], "r");
  if (!file) {
    perror(arguments[2]);
    return UPRIGHT_NO_INPUT;
  }
  events[fread(events, 1, sizeof events - 1, file)] = 0;
  fclose(file);
  signal(SIGINT, interrupt);

  const char *options = "{\"frames\": \"sensor\", \"canvas\": \"landscape\", \"size\": \"180p\", \"overwrite\": true}";
  upright_status status =
    upright_transcode_new(arguments[1], arguments[3], "phone", events, options, &transcode, &error);
  if (!status) status = upright_transcode_run(transcode, receive, &frames, &report, &error);
  if (status) fprintf(stderr, "%s: %s: %s\n", error.message, error.location, error.remedy);
  else printf("%d frames\n%s", frames, report);
  upright_string_free(report);
  upright_transcode_free(transcode);
  return status;
}
