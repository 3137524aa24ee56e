/* An SFU's recorder: RTP with CVO from standard input, framed as in RFC 4571; upright H.264 to standard output. */
#include <stdio.h>
#include <upright.h>

static upright_status drain(upright_session *session, double seconds) {
  upright_output output = {.size = sizeof output};
  upright_status status;
  while ((status = upright_session_receive(session, seconds, &output, NULL)) == UPRIGHT_OK)
    if (output.kind == UPRIGHT_OUTPUT_PACKET) fwrite(output.packet.bytes, 1, output.packet.length, stdout);
  return status;
}

int main(void) {
  static const char sdp[] =
    "v=0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\na=extmap:4 urn:3gpp:video-orientation\n";
  static uint8_t packet[65535];
  upright_session *session;
  if (upright_session_new_rtp(sdp, "phone", "{\"size\": \"360p\"}", &session, NULL)) return 1;
  for (int high; (high = getchar()) != EOF;) {
    size_t length = fread(packet, 1, (size_t)(high << 8 | getchar()), stdin);
    while (upright_session_send_rtp(session, packet, length, 0, NULL) == UPRIGHT_AGAIN) drain(session, 0.01);
  }
  upright_session_finish(session, NULL);
  upright_status status = drain(session, -1);
  upright_session_free(session);
  return status != UPRIGHT_END;
}
