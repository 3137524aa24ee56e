// libavfilter's and libswscale's way of turning and rescaling, for comparison.
#pragma once

#include <stdint.h>

typedef struct filter_graph filter_graph;

// A graph of one thread for yuv420p pictures of `width` x `height`: `filters` as the ffmpeg command
// line takes them. Null where libavfilter refuses.
filter_graph *filter_graph_open(const char *filters, int width, int height);
void filter_graph_close(filter_graph *graph);

// The picture that goes in, to be filled by the caller.
uint8_t *filter_graph_input(filter_graph *graph, int plane, int *stride);

// Sends the picture through. 0, or a negative number where it failed.
int filter_graph_run(filter_graph *graph);

// What came out last; valid until the next run.
const uint8_t *filter_graph_output(filter_graph *graph, int plane, int *stride);
