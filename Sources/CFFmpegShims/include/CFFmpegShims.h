// What libav* declares in a way Swift cannot import: function-like macros, endian aliases, variadic
// logging. Each shim is one line of C or has its reason beside it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "versions.h"

// AVERROR() and the FFERRTAG() codes are macros over casts.
static inline int upright_averror(int posix) { return AVERROR(posix); }
static inline int upright_averror_eof(void) { return AVERROR_EOF; }
static inline int upright_averror_eagain(void) { return AVERROR(EAGAIN); }
static inline int upright_averror_exit(void) { return AVERROR_EXIT; }
static inline int upright_averror_invaliddata(void) { return AVERROR_INVALIDDATA; }
static inline int upright_averror_protocol_not_found(void) { return AVERROR_PROTOCOL_NOT_FOUND; }
static inline int upright_averror_demuxer_not_found(void) { return AVERROR_DEMUXER_NOT_FOUND; }
// What a server says of a request that will be no better another time: 400, 401, 403, 404.
static inline int upright_is_http_rejection(int code) {
  return code == AVERROR_HTTP_BAD_REQUEST || code == AVERROR_HTTP_UNAUTHORIZED ||
         code == AVERROR_HTTP_FORBIDDEN || code == AVERROR_HTTP_NOT_FOUND;
}
static inline int upright_averror_decoder_not_found(void) { return AVERROR_DECODER_NOT_FOUND; }

// `extended_data` and `data` are arrays in C and tuples in Swift; these give a plane by its index.
static inline uint8_t *upright_frame_plane(const AVFrame *frame, int plane) {
  return frame->data[plane];
}
static inline int upright_frame_stride(const AVFrame *frame, int plane) {
  return frame->linesize[plane];
}

// av_log's callback is variadic. Keeps the thread's last error line for our own message, and echoes
// to stderr what is at or below `echo_level`.
void upright_log_install(int echo_level);
// Keeps RTSP servers from sending us elsewhere, whether or not the log is installed.
void upright_refuse_redirects(void);
// Demands a valid certificate of whatever the context opens: the HLS demuxer hands a few options on to
// what a playlist names, and this is not among them.
void upright_verify_certificates(AVFormatContext *context);
// The calling thread's last error line since the last call, or an empty string.
const char *upright_log_take_error(void);

// malloc.h, which Swift's Glibc leaves out.
void upright_malloc_keep_large_apart(size_t bytes);
void upright_malloc_trim(void);
