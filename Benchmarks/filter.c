// One libavfilter graph on one thread, frame in, frame out: what warp_bench.py times.
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <stdio.h>
#include <string.h>

enum { MOST_INPUTS = 2 };

typedef struct filter {
  AVFilterGraph *graph;
  AVFilterContext *from[MOST_INPUTS], *to;
  AVFrame *in[MOST_INPUTS], *out;
  int inputs;
} filter;

// `text` goes between the inputs, [in0] and [in1], and [out]. NULL where it is refused.
filter *filter_open(const char *text, int inputs, int width, int height) {
  static filter pool[16];
  static int used;
  if (used == 16 || inputs > MOST_INPUTS) return NULL;
  filter *f = &pool[used++];
  f->inputs = inputs;
  f->graph = avfilter_graph_alloc();
  if (!f->graph) return NULL;
  f->graph->nb_threads = 1;
  AVFilterInOut *open = NULL, *end = avfilter_inout_alloc();
  char arguments[200], name[8];
  snprintf(arguments, sizeof arguments,
           "video_size=%dx%d:pix_fmt=yuv420p:time_base=1/25:pixel_aspect=1/1", width, height);
  for (int i = 0; i < inputs; i++) {
    snprintf(name, sizeof name, "in%d", i);
    if (avfilter_graph_create_filter(&f->from[i], avfilter_get_by_name("buffer"), name, arguments,
                                     NULL, f->graph) < 0)
      return NULL;
    AVFilterInOut *next = avfilter_inout_alloc();
    *next = (AVFilterInOut){av_strdup(name), f->from[i], 0, open};
    open = next;
    AVFrame *frame = f->in[i] = av_frame_alloc();
    frame->format = AV_PIX_FMT_YUV420P;
    frame->width = width;
    frame->height = height;
    if (av_frame_get_buffer(frame, 64) < 0) return NULL;
  }
  if (avfilter_graph_create_filter(&f->to, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                   f->graph) < 0)
    return NULL;
  *end = (AVFilterInOut){av_strdup("out"), f->to, 0, NULL};
  if (avfilter_graph_parse_ptr(f->graph, text, &end, &open, NULL) < 0) return NULL;
  if (avfilter_graph_config(f->graph, NULL) < 0) return NULL;
  f->out = av_frame_alloc();
  return f;
}

// The planes of input `index`, close together, into its frame.
int filter_set(filter *f, int index, const uint8_t *bytes) {
  const AVFrame *frame = f->in[index];
  uint8_t *planes[4];
  int strides[4];
  if (av_image_fill_arrays(planes, strides, bytes, frame->format, frame->width, frame->height, 1) < 0)
    return -1;
  av_image_copy((uint8_t **)frame->data, (int *)frame->linesize, (const uint8_t **)planes, strides,
                frame->format, frame->width, frame->height);
  return 0;
}

// One frame through the graph.
int filter_run(filter *f) {
  av_frame_unref(f->out);
  for (int i = 0; i < f->inputs; i++) {
    f->in[i]->pts++;
    if (av_buffersrc_add_frame_flags(f->from[i], f->in[i], AV_BUFFERSRC_FLAG_KEEP_REF) < 0)
      return -1;
  }
  return av_buffersink_get_frame(f->to, f->out);
}

// The planes of what came out last, close together.
int filter_get(const filter *f, uint8_t *bytes, int size) {
  return av_image_copy_to_buffer(bytes, size, (const uint8_t *const *)f->out->data,
                                 f->out->linesize, f->out->format, f->out->width, f->out->height, 1);
}
