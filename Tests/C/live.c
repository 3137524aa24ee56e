/* Live sessions, descriptors of sessions, segments in memory, tags and playlists.  live CLIP FOLDER */
#include "expect.h"
#include <poll.h>
#include <unistd.h>

static char *joined(const char *folder, const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* The number after a name in JSON; 0 without it. */
static int number(const char *json, const char *name) {
  char key[64];
  snprintf(key, sizeof key, "\"%s\": ", name);
  const char *found = strstr(json, key);
  return found ? atoi(found + strlen(key)) : 0;
}

/* A file to HLS: the app is turned by an event, and the updates say so. */
static void live(const char *clip, const char *folder) {
  upright_live *live;
  upright_status status;
  int formats = 0, decisions = 0;
  char *json, last[4096] = "";
  EXPECT_STATUS(UPRIGHT_USAGE, upright_live_new(clip, joined(folder, "hls/"), "{\"nonsense\": 1}", &live, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_live_new(NULL, "a/", NULL, &live, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_live_new(clip, joined(folder, "hls/"), "{\"frames\": \"sensor\", \"size\": \"180p\"}",
    &live, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_live_events(live, "{\"at\": -1}", &error));
  while ((status = upright_live_next(live, 30, &json, &error)) == UPRIGHT_OK) {
    if (strstr(json, "\"format\":") && formats++ == 0)
      EXPECT_STATUS(UPRIGHT_OK, upright_live_events(live, "{\"device\": \"landscapeLeft\"}", &error));
    if (strstr(json, "\"decision\":{")) decisions++;
    snprintf(last, sizeof last, "%s", json);
    upright_string_free(json);
  }
  EXPECT(status == UPRIGHT_END && formats == 2 && decisions >= 1 && strstr(last, "\"ended\""));
  EXPECT_STATUS(UPRIGHT_OK, upright_live_snapshot(live, &json, &error));
  /* A busy machine may shed some. */
  EXPECT(strstr(json, "\"state\": \"ended\"") && number(json, "framesIn") + number(json, "shed") == 60);
  upright_string_free(json);
  EXPECT(upright_live_free(live) == UPRIGHT_OK);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_live_stop(live, &error));

  /* One that is freed while it runs is closed. */
  EXPECT_STATUS(UPRIGHT_OK, upright_live_new(clip, joined(folder, "again/"), "{\"frames\": \"sensor\"}", &live, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_live_next(live, -1, &json, &error));
  upright_string_free(json);
  EXPECT(upright_live_free(live) == UPRIGHT_OK);
  FILE *playlist = fopen(joined(folder, "hls/index.m3u8"), "r");
  static char text[1 << 16];
  text[playlist ? fread(text, 1, sizeof text - 1, playlist) : 0] = 0;
  if (playlist) fclose(playlist);
  EXPECT_STATUS(UPRIGHT_OK, upright_check(text, &json, &error));
  EXPECT(!strncmp(json, "[]", 2));
  upright_string_free(json);
  EXPECT_STATUS(UPRIGHT_OK, upright_check("no playlist", &json, &error));
  EXPECT(strstr(json, "\"clause\""));
  upright_string_free(json);
}

static int messages;

static void note(void *context, int32_t level, const char *line) {
  EXPECT(context == &messages && level <= 24 && line[0]);
  __atomic_add_fetch(&messages, 1, __ATOMIC_RELAXED);
}

/* What FFmpeg says of a damaged stream comes here, and nowhere else. */
static void log_of(const char *folder) {
  char *json, path[4096];
  snprintf(path, sizeof path, "%s", joined(folder, "damaged.h264"));
  FILE *file = fopen(path, "wb");
  for (int i = 0; i < 5000; i++) fwrite("\0\0\1\x65\x88\x84\x21\xa0", 1, 8, file);
  fclose(file);
  EXPECT_STATUS(UPRIGHT_USAGE, upright_log(1000, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_log(24, note, &messages, &error));
  if (upright_probe(path, &json, &error) == UPRIGHT_OK) upright_string_free(json);
  EXPECT(messages > 0);
  EXPECT_STATUS(UPRIGHT_OK, upright_log(24, NULL, NULL, &error));
  if (upright_probe(path, &json, &error) == UPRIGHT_OK) upright_string_free(json);
}

/* Frames in one thread, which waits by poll; what comes out goes into segments. */
static void packets(FILE *input) {
  static uint8_t packet[65536];
  upright_session *session;
  upright_segments *segments;
  upright_output output = {.size = sizeof output};
  const uint8_t *bytes;
  size_t length = 0, header = 0, all = 0;
  int descriptor = -1, count = 0, finished = 0, waits = 0;
  upright_status status = UPRIGHT_OK;
  char *json;
  EXPECT_STATUS(UPRIGHT_OK, upright_session_new_rtp(
    "v=0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\na=extmap:4 urn:3gpp:video-orientation\n", "phone",
    "{\"size\": \"180p\"}", &session, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_segments_new((upright_rational){1, 90000}, NULL, &segments, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_segments_append(
    segments, &(upright_packet){.size = sizeof(upright_packet), .bytes = packet, .length = 1, .time_base = {1, 1}}, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_session_event_fd(session, &descriptor, &error));
  while (status != UPRIGHT_END && waits < 10000) {
    uint64_t wakes;
    struct pollfd waiting = {descriptor, POLLIN, 0};
    EXPECT(poll(&waiting, 1, 20000) == 1 && read(descriptor, &wakes, sizeof wakes) == sizeof wakes);
    waits++;
    while (!finished) {
      uint8_t head[2];
      if (!length) {
        if (fread(head, 1, 2, input) != 2) {
          finished = upright_session_finish(session, &error) == UPRIGHT_OK;
          break;
        }
        length = fread(packet, 1, head[0] << 8 | head[1], input);
      }
      if (upright_session_send_rtp(session, packet, length, 0, &error) == UPRIGHT_AGAIN) break;
      length = 0;
    }
    while ((status = upright_session_receive(session, 0, &output, &error)) == UPRIGHT_OK) {
      if (output.kind == UPRIGHT_OUTPUT_FORMAT) {
        size_t part = 0;
        if (count) EXPECT_STATUS(UPRIGHT_OK, upright_segments_cut(segments, &bytes, &part, &error));
        all += part;
        EXPECT_STATUS(UPRIGHT_OK, upright_segments_begin(segments, &output.stream, &bytes, &header, &error));
        EXPECT(header > 8 && !memcmp(bytes + 4, "ftyp", 4));
      }
      if (output.kind == UPRIGHT_OUTPUT_PACKET) {
        EXPECT_STATUS(UPRIGHT_OK, upright_segments_append(segments, &output.packet, &error));
        count++;
      }
    }
  }
  EXPECT_STATUS(UPRIGHT_OK, upright_segments_cut(segments, &bytes, &header, &error));
  EXPECT(count == 60 && status == UPRIGHT_END && all > 0 && header > 0);
  EXPECT_STATUS(UPRIGHT_OK, upright_session_counters(session, &json, &error));
  EXPECT(strstr(json, "\"framesIn\": 60") && strstr(json, "\"framesOut\": 60") && strstr(json, "\"formats\": 2"));
  upright_string_free(json);
  EXPECT(upright_segments_free(segments) == UPRIGHT_OK && upright_session_free(session) == UPRIGHT_OK);
}

int main(int count, char **arguments) {
  if (count != 4) return UPRIGHT_USAGE;
  FILE *input = fopen(arguments[3], "rb");
  live(arguments[1], arguments[2]);
  packets(input);
  log_of(arguments[2]);
  fclose(input);
  char *report;
  EXPECT_STATUS(UPRIGHT_USAGE, upright_tag(arguments[1], joined(arguments[2], "a.mp4"), 9, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_tag(arguments[1], joined(arguments[2], "a.mp4"), 6, NULL, &report, &error));
  EXPECT(strstr(report, "\"turn\": \"right\""));
  upright_string_free(report);
  if (!failures) puts("clean");
  return failures > 0;
}
