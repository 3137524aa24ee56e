/* The policy alone: which way an app's interface turns while its phone is turned, and in which format its stream
 * is encoded. No video, no FFmpeg.
 *
 *     policy POLICY EVENTS.jsonl
 *
 *     cc policy.c -o policy $(pkg-config --cflags --libs uprightpolicy)
 */
#include <stdio.h>
#include <upright.h>

static int fail(const upright_error *error) {
  fprintf(stderr, "%s: %s: %s\n", error->message, error->location, error->remedy);
  return error->status;
}

int main(int count, char **arguments) {
  upright_error error = {.size = sizeof error};
  upright_format format = {.size = sizeof format};
  upright_plan *plan;
  char line[1024], *json;
  if (count != 3) {
    fprintf(stderr, "usage: policy POLICY EVENTS.jsonl\n");
    return UPRIGHT_USAGE;
  }
  FILE *events = fopen(arguments[2], "r");
  if (!events) {
    perror(arguments[2]);
    return UPRIGHT_NO_INPUT;
  }
  if (upright_plan_new(arguments[1], &plan, &error)) return fail(&error);
  while (fgets(line, sizeof line, events)) {
    /* A server would go on after an event that the policy refuses. */
    if (upright_plan_events(plan, line, &error)) return fail(&error);
  }
  fclose(events);
  if (upright_plan_finish(plan, &error)) return fail(&error);
  for (int second = 0; second < 10; second += 3) {
    if (upright_plan_format(plan, second, &format, &error)) return fail(&error);
    printf("at %d s: encode %dx%d\n", second, format.encode_width, format.encode_height);
  }
  if (upright_plan_take(plan, &json, &error)) return fail(&error);
  fputs(json, stdout);
  upright_string_free(json);
  return upright_plan_free(plan);
}
