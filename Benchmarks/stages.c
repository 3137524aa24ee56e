// What any transcoder must pay: decoding alone, and encoding alone, through libavcodec with one thread.
//
//   stages decode CLIP        stages encode PICTURES.y4m
//
// Prints CPU seconds. Of encoding the time inside the encoder counts, not the reading of pictures.
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

static int decode(const char *path) {
  const double start = cpu();
  AVFormatContext *input = NULL;
  need(avformat_open_input(&input, path, NULL, NULL) >= 0, "the clip cannot be opened");
  need(avformat_find_stream_info(input, NULL) >= 0, "the clip has no streams");
  const AVCodec *codec = NULL;
  const int stream = av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  need(stream >= 0, "the clip has no pictures");
  AVCodecContext *decoder = avcodec_alloc_context3(codec);
  avcodec_parameters_to_context(decoder, input->streams[stream]->codecpar);
  decoder->thread_count = 1;
  need(avcodec_open2(decoder, codec, NULL) >= 0, "the decoder does not open");
  AVPacket *packet = av_packet_alloc();
  AVFrame *frame = av_frame_alloc();
  int frames = 0, isOver = 0;
  while (!isOver) {
    isOver = av_read_frame(input, packet) < 0;
    if (!isOver && packet->stream_index != stream) {
      av_packet_unref(packet);
      continue;
    }
    avcodec_send_packet(decoder, isOver ? NULL : packet);
    av_packet_unref(packet);
    while (avcodec_receive_frame(decoder, frame) >= 0) frames++;
  }
  printf("%f %d\n", cpu() - start, frames);
  return 0;
}

// Planes of 4:2:0 that lie close together in the file.
static int read_picture(FILE *file, AVFrame *frame) {
  char line[256];
  if (!fgets(line, sizeof line, file)) return 0;
  need(!strncmp(line, "FRAME", 5), "the pictures are not Y4M");
  for (int plane = 0; plane < 3; plane++) {
    const int width = plane ? frame->width / 2 : frame->width;
    const int height = plane ? frame->height / 2 : frame->height;
    for (int y = 0; y < height; y++)
      need(fread(frame->data[plane] + y * frame->linesize[plane], 1, width, file) == (size_t)width,
           "the pictures end early");
  }
  return 1;
}

static int encode(const char *path) {
  FILE *file = fopen(path, "rb");
  need(file != NULL, "the pictures cannot be opened");
  char line[1024];
  int width = 0, height = 0;
  need(fgets(line, sizeof line, file) && sscanf(line, "YUV4MPEG2 W%d H%d", &width, &height) == 2,
       "the pictures are not Y4M");
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
  AVPacket *packet = av_packet_alloc();
  double seconds = 0;
  int frames = 0;
  for (int isOver = 0; !isOver; frames++) {
    AVFrame *frame = av_frame_alloc();
    frame->format = encoder->pix_fmt;
    frame->width = width;
    frame->height = height;
    need(av_frame_get_buffer(frame, 64) >= 0, "no memory");
    isOver = !read_picture(file, frame);
    frame->pts = frames;
    const double start = cpu();
    avcodec_send_frame(encoder, isOver ? NULL : frame);
    while (avcodec_receive_packet(encoder, packet) >= 0) av_packet_unref(packet);
    seconds += cpu() - start;
    av_frame_free(&frame);
  }
  printf("%f %d\n", seconds, frames - 1);
  return 0;
}

int main(int count, char **arguments) {
  av_log_set_level(AV_LOG_ERROR);
  need(count == 3, "stages decode CLIP | stages encode PICTURES.y4m");
  return strcmp(arguments[1], "decode") ? encode(arguments[2]) : decode(arguments[2]);
}
