/* Packets in, packets out: a recorder in a conferencing server gets access units with the video orientation (CVO)
 * that the sender's RTP packets carried, and writes them upright.
 *
 *     packets INPUT.h264 OUTPUT
 *
 *     cc packets.c -o packets $(pkg-config --cflags --libs upright)
 *
 * INPUT stands for what the server receives: access units of 30 frames per second, each with a delimiter. The
 * phone is turned at frame 45. Each format is written to a file of its own, OUTPUT-0.h264, OUTPUT-1.h264.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upright.h>

static const upright_rational clock_rate = {1, 90000};

static void print(const upright_error *error) {
  fprintf(stderr, "%s: %s: %s\n", error->message, error->location, error->remedy);
}

/* What arrives, and the session that it is sent to. */
typedef struct Sender {
  upright_session *session;
  uint8_t *bytes;
  size_t count;
} Sender;

/* The next start code of a delimiter (NAL unit type 9) after `from`, or the end. */
static size_t next_unit(const Sender *sender, size_t from) {
  for (size_t at = from; at + 5 < sender->count; at++) {
    if (!memcmp(sender->bytes + at, "\0\0\0\1", 4) && (sender->bytes[at + 4] & 0x1F) == 9) return at;
  }
  return sender->count;
}

/* Whether an access unit has an IDR slice (NAL unit type 5). */
static int is_key(const uint8_t *unit, size_t count) {
  for (size_t at = 0; at + 4 < count; at++) {
    if (!memcmp(unit + at, "\0\0\1", 3) && (unit[at + 3] & 0x1F) == 5) return 1;
  }
  return 0;
}

/* One thread sends, and waits while the session is behind. */
static void *send_all(void *context) {
  Sender *sender = context;
  upright_error error = {.size = sizeof error};
  int frame = 0;
  for (size_t at = next_unit(sender, 0), end; at < sender->count; at = end, frame++) {
    end = next_unit(sender, at + 5);
    upright_packet packet = {.size = sizeof packet, .dts = UPRIGHT_NO_TIME, .time_base = clock_rate};
    packet.bytes = sender->bytes + at;
    packet.length = end - at;
    packet.pts = frame * 3000;
    packet.is_key = is_key(packet.bytes, packet.length);
    packet.has_cvo = 1;
    packet.cvo = frame < 45 ? 1 : 0; /* To be turned by 90 degrees, or upright. */
    if (upright_session_send(sender->session, &packet, -1, &error)) {
      print(&error);
      break;
    }
  }
  upright_session_finish(sender->session, NULL);
  return NULL;
}

/* Where packets go. */
typedef struct Recorder {
  const char *name;
  FILE *file;
  int files, packets;
} Recorder;

/* Called on the thread that runs the session. What isn't 0 would end it. */
static int32_t receive(void *context, const upright_output *output) {
  Recorder *recorder = context;
  char name[1024];
  switch (output->kind) {
  case UPRIGHT_OUTPUT_FORMAT:
    printf("packet %d: %dx%d\n", recorder->packets, output->stream.width, output->stream.height);
    if (recorder->file) fclose(recorder->file);
    snprintf(name, sizeof name, "%s-%d.h264", recorder->name, recorder->files++);
    recorder->file = fopen(name, "wb");
    return recorder->file ? 0 : UPRIGHT_CANNOT_CREATE;
  case UPRIGHT_OUTPUT_PACKET:
    recorder->packets++;
    return fwrite(output->packet.bytes, 1, output->packet.length, recorder->file) != output->packet.length;
  default:
    printf("%s\n", output->json);
    return 0;
  }
}

int main(int count, char **arguments) {
  upright_error error = {.size = sizeof error};
  upright_stream video = {.size = sizeof video, .codec = "h264", .time_base = clock_rate};
  Sender sender = {0};
  pthread_t thread;
  if (count != 3) {
    fprintf(stderr, "usage: packets INPUT.h264 OUTPUT\n");
    return UPRIGHT_USAGE;
  }
  Recorder recorder = {.name = arguments[2]};
  FILE *input = fopen(arguments[1], "rb");
  if (!input) {
    perror(arguments[1]);
    return UPRIGHT_NO_INPUT;
  }
  sender.bytes = malloc(16 << 20);
  if (!sender.bytes) return UPRIGHT_FAULT;
  sender.count = fread(sender.bytes, 1, 16 << 20, input);
  fclose(input);

  if (upright_session_new(
        &video, NULL, "phone", "{\"canvas\": \"follow\", \"size\": \"360p\"}", &sender.session, &error)) {
    print(&error);
    return error.status;
  }
  if (pthread_create(&thread, NULL, send_all, &sender)) return UPRIGHT_FAULT;
  upright_status status = upright_session_run(sender.session, receive, &recorder, &error);
  if (status) print(&error);
  pthread_join(thread, NULL);
  upright_session_free(sender.session);
  if (recorder.file) fclose(recorder.file);
  free(sender.bytes);
  printf("%d packets in %d files\n", recorder.packets, recorder.files);
  return status;
}
