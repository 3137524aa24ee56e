// The cost that every transcoder has: each frame of a clip is decoded, and a prepared frame is encoded in its
// place, through libavcodec with one thread each, with nothing in between.
//
//   stages CLIP FRAMES.y4m
//
// Prints the CPU seconds from the start of main, without reading the prepared frames; the number of frames; and
// the CPU seconds of encoding alone.
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void need(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "stages: %s\n", what);
  exit(1);
}

typedef struct source {
  AVFormatContext *input;
  AVCodecContext *decoder;
  AVPacket *packet;
  AVFrame *frame;
  int stream;
} source;

static source open_clip(const char *path) {
  source s = {.packet = av_packet_alloc(), .frame = av_frame_alloc()};
  need(avformat_open_input(&s.input, path, NULL, NULL) >= 0, "the clip cannot be opened");
  need(avformat_find_stream_info(s.input, NULL) >= 0, "the input has no streams");
  const AVCodec *codec = NULL;
  s.stream = av_find_best_stream(s.input, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  need(s.stream >= 0, "the input has no video");
  s.decoder = avcodec_alloc_context3(codec);
  avcodec_parameters_to_context(s.decoder, s.input->streams[s.stream]->codecpar);
  s.decoder->thread_count = 1;
  need(avcodec_open2(s.decoder, codec, NULL) >= 0, "the decoder does not open");
  return s;
}

// The next frame is in `frame`; 0 at the end.
static int decode(source *s) {
  while (avcodec_receive_frame(s->decoder, s->frame) == AVERROR(EAGAIN)) {
    int code;
    while ((code = av_read_frame(s->input, s->packet)) >= 0 &&
           s->packet->stream_index != s->stream) {
      av_packet_unref(s->packet);
    }
    avcodec_send_packet(s->decoder, code < 0 ? NULL : s->packet);
    av_packet_unref(s->packet);
  }
  return s->frame->width > 0;
}

// Planes of 4:2:0 that lie close together in the file.
static int read_frame(FILE *file, AVFrame *frame) {
  char line[256];
  if (!fgets(line, sizeof line, file)) return 0;
  need(!strncmp(line, "FRAME", 5), "the frames are not Y4M");
  for (int plane = 0; plane < 3; plane++) {
    const int width = plane ? frame->width / 2 : frame->width;
    const int height = plane ? frame->height / 2 : frame->height;
    for (int y = 0; y < height; y++)
      need(fread(frame->data[plane] + y * frame->linesize[plane], 1, width, file) == (size_t)width,
           "the frames end early");
  }
  return 1;
}

static AVCodecContext *open_encoder(FILE *file) {
  char line[1024];
  int width = 0, height = 0;
  need(fgets(line, sizeof line, file) && sscanf(line, "YUV4MPEG2 W%d H%d", &width, &height) == 2,
       "the frames are not Y4M");
  const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
  need(codec != NULL, "there is no libx264");
  AVCodecContext *encoder = avcodec_alloc_context3(codec);
  encoder->width = width;
  encoder->height = height;
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->time_base = (AVRational){1, 30};
  encoder->framerate = (AVRational){30, 1};
  encoder->thread_count = 1;
  encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  av_opt_set(encoder->priv_data, "preset", "veryfast", 0);
  av_opt_set(encoder->priv_data, "crf", "23", 0);
  need(avcodec_open2(encoder, codec, NULL) >= 0, "the encoder does not open");
  return encoder;
}

static void encode(AVCodecContext *encoder, const AVFrame *frame, AVPacket *packet) {
  avcodec_send_frame(encoder, frame);
  while (avcodec_receive_packet(encoder, packet) >= 0) av_packet_unref(packet);
}

int main(int count, char **arguments) {
  const double start = cpu();
  double reading = 0, encoding = 0;
  av_log_set_level(AV_LOG_ERROR);
  need(count == 3, "stages CLIP FRAMES.y4m");
  source clip = open_clip(arguments[1]);
  FILE *file = fopen(arguments[2], "rb");
  need(file != NULL, "the frames cannot be opened");
  AVCodecContext *encoder = open_encoder(file);
  AVPacket *packet = av_packet_alloc();
  AVFrame *ready = av_frame_alloc();
  ready->format = encoder->pix_fmt;
  ready->width = encoder->width;
  ready->height = encoder->height;
  need(av_frame_get_buffer(ready, 64) >= 0, "no memory");
  int frames = 0;
  for (; decode(&clip); frames++) {
    av_frame_unref(clip.frame);
    const double before = cpu();
    need(av_frame_make_writable(ready) >= 0 && read_frame(file, ready), "too few frames");
    reading += cpu() - before;
    ready->pts = frames;
    const double sending = cpu();
    encode(encoder, ready, packet);
    encoding += cpu() - sending;
  }
  const double sending = cpu();
  encode(encoder, NULL, packet);
  encoding += cpu() - sending;
  printf("%f %d %f\n", cpu() - start - reading, frames, encoding);
  return 0;
}
