// Rotating and rescaling with libavfilter and libswscale, for comparison.
#pragma once

#include <stdint.h>

typedef struct filter_graph filter_graph;

// Opens a graph of one thread for yuv420p frames of `width` x `height`. `filters` is as on the ffmpeg command
// line. Returns null if libavfilter rejects it.
filter_graph *filter_graph_open(const char *filters, int width, int height);
void filter_graph_close(filter_graph *graph);

// Returns a plane of the input frame, to be filled by the caller.
uint8_t *filter_graph_input(filter_graph *graph, int plane, int *stride);

// Sends the frame through the graph. Returns 0, or a negative number if it failed.
int filter_graph_run(filter_graph *graph);

// Returns a plane of the last output. Valid until the next run.
const uint8_t *filter_graph_output(filter_graph *graph, int plane, int *stride);
