/* RTP packets in, packets out: reads a file of packets, each after its length in two bytes, and prints the formats and
 * the number of packets. */
#include "expect.h"

static const char description[] =
  "v=0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\na=extmap:4 urn:3gpp:video-orientation\n";

static int32_t receive(void *context, const upright_output *output) {
  int *packets = context;
  if (output->kind == UPRIGHT_OUTPUT_FORMAT)
    printf("packet %d: %dx%d\n", *packets, output->stream.width, output->stream.height);
  if (output->kind == UPRIGHT_OUTPUT_PACKET) {
    EXPECT(output->packet.pts == *packets * 3000 && output->packet.time_base.denominator == 90000);
    (*packets)++;
  }
  return 0;
}

static FILE *input;

static void *send_all(void *session) {
  static uint8_t packet[65536];
  upright_error error = {.size = sizeof error};
  uint8_t head[2];
  while (fread(head, 1, 2, input) == 2) {
    size_t length = head[0] << 8 | head[1];
    EXPECT(fread(packet, 1, length, input) == length);
    EXPECT_STATUS(UPRIGHT_OK, upright_session_send_rtp(session, packet, length, -1, &error));
  }
  EXPECT_STATUS(UPRIGHT_OK, upright_session_finish(session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send_rtp(session, packet, 12, 0, &error));
  return NULL;
}

int main(int count, char **arguments) {
  upright_session *session;
  upright_packet frame = {.size = sizeof frame};
  pthread_t thread;
  int packets = 0;
  if (count != 2 || !(input = fopen(arguments[1], "rb"))) return UPRIGHT_USAGE;
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_new_rtp(NULL, NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_new_rtp(description, NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_session_new_rtp("v=0\n", NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_new_rtp(description, NULL, "{\"gop\": 9}", &session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send_rtp(NULL, NULL, 0, 0, &error));

  EXPECT_STATUS(
    UPRIGHT_OK, upright_session_new_rtp(description, "phone", "{\"size\": \"180p\"}", &session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send(session, &frame, 0, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send_rtp(session, NULL, 5, 0, &error));
  pthread_create(&thread, NULL, send_all, session);
  EXPECT_STATUS(UPRIGHT_OK, upright_session_run(session, receive, &packets, &error));
  pthread_join(thread, NULL);
  EXPECT(upright_session_free(session) == UPRIGHT_OK);
  fclose(input);

  /* A session of whole frames takes no RTP, and one without packets has no frame. */
  upright_stream video = {.size = sizeof video, .codec = "h264", .time_base = {1, 90000}};
  EXPECT_STATUS(UPRIGHT_OK, upright_session_new(&video, NULL, NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send_rtp(session, (const uint8_t *)"", 0, 0, &error));
  EXPECT(upright_session_free(session) == UPRIGHT_OK);
  EXPECT_STATUS(UPRIGHT_OK, upright_session_new_rtp(description, NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_session_finish(session, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_session_run(session, receive, &packets, &error));
  EXPECT(upright_session_free(session) == UPRIGHT_OK);
  printf("%d packets\n", packets);
  return failures > 0;
}
