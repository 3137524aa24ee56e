#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/frame.h>
#include <stdio.h>
#include <stdlib.h>

#include "CFilterGraph.h"

struct filter_graph {
  AVFilterGraph *graph;
  AVFilterContext *source;
  AVFilterContext *sink;
  AVFrame *input;
  AVFrame *output;
};

static int build(filter_graph *g, const char *filters, int width, int height) {
  char arguments[128];
  snprintf(arguments, sizeof arguments,
           "video_size=%dx%d:pix_fmt=yuv420p:time_base=1/30:pixel_aspect=1/1", width, height);
  g->graph = avfilter_graph_alloc();
  g->input = av_frame_alloc();
  g->output = av_frame_alloc();
  if (!g->graph || !g->input || !g->output) return -1;
  g->graph->nb_threads = 1;
  if (avfilter_graph_create_filter(&g->source, avfilter_get_by_name("buffer"), "in", arguments,
                                   NULL, g->graph) < 0 ||
      avfilter_graph_create_filter(&g->sink, avfilter_get_by_name("buffersink"), "out", NULL,
                                   NULL, g->graph) < 0) {
    return -1;
  }
  AVFilterInOut *outputs = avfilter_inout_alloc(), *inputs = avfilter_inout_alloc();
  *outputs = (AVFilterInOut){av_strdup("in"), g->source, 0, NULL};
  *inputs = (AVFilterInOut){av_strdup("out"), g->sink, 0, NULL};
  const int parsed = avfilter_graph_parse_ptr(g->graph, filters, &inputs, &outputs, NULL);
  avfilter_inout_free(&outputs);
  avfilter_inout_free(&inputs);
  if (parsed < 0 || avfilter_graph_config(g->graph, NULL) < 0) return -1;
  g->input->format = AV_PIX_FMT_YUV420P;
  g->input->width = width;
  g->input->height = height;
  return av_frame_get_buffer(g->input, 64);
}

filter_graph *filter_graph_open(const char *filters, int width, int height) {
  filter_graph *g = calloc(1, sizeof *g);
  if (g && build(g, filters, width, height) < 0) {
    filter_graph_close(g);
    return NULL;
  }
  return g;
}

void filter_graph_close(filter_graph *g) {
  if (!g) return;
  av_frame_free(&g->input);
  av_frame_free(&g->output);
  avfilter_graph_free(&g->graph);
  free(g);
}

uint8_t *filter_graph_input(filter_graph *g, int plane, int *stride) {
  *stride = g->input->linesize[plane];
  return g->input->data[plane];
}

int filter_graph_run(filter_graph *g) {
  av_frame_unref(g->output);
  const int sent =
      av_buffersrc_add_frame_flags(g->source, g->input, AV_BUFFERSRC_FLAG_KEEP_REF);
  return sent < 0 ? sent : av_buffersink_get_frame(g->sink, g->output);
}

const uint8_t *filter_graph_output(filter_graph *g, int plane, int *stride) {
  *stride = g->output->linesize[plane];
  return g->output->data[plane];
}
