// FFmpeg declarations that Swift can't import: function-like macros, endian aliases, variadic logging. Each
// shim is one line of C or is explained beside it.
#pragma once

#include <stdbool.h>
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
static inline int upright_averror_patchwelcome(void) { return AVERROR_PATCHWELCOME; }
static inline int upright_averror_protocol_not_found(void) { return AVERROR_PROTOCOL_NOT_FOUND; }
static inline int upright_averror_demuxer_not_found(void) { return AVERROR_DEMUXER_NOT_FOUND; }
// Whether a server answered with a status of 400 or more.
static inline bool upright_is_http_error(int code) {
  return code == AVERROR_HTTP_BAD_REQUEST || code == AVERROR_HTTP_UNAUTHORIZED || code == AVERROR_HTTP_FORBIDDEN ||
         code == AVERROR_HTTP_NOT_FOUND || code == AVERROR_HTTP_OTHER_4XX || code == AVERROR_HTTP_SERVER_ERROR;
}
static inline int upright_averror_decoder_not_found(void) { return AVERROR_DECODER_NOT_FOUND; }

// `extended_data` and `data` are arrays in C and tuples in Swift. These functions return a plane by its
// index.
static inline uint8_t *upright_frame_plane(const AVFrame *frame, int plane) {
  return frame->data[plane];
}
static inline int upright_frame_stride(const AVFrame *frame, int plane) {
  return frame->linesize[plane];
}

// Requires a valid certificate for everything that the context opens. The HLS demuxer passes only a few
// options on to a playlist's entries, and `tls_verify` isn't one of them.
void upright_verify_certificates(AVFormatContext *context);

// What av_log() adds to the levels of a context whose messages aren't printed. It is greater than every level,
// and the sum fits into the eight bits that av_log_default_callback() looks at. The scope of a context, up to
// upright_log_last_scope, is above the sixteen bits that callbacks look at.
static const int upright_log_quiet = 128;
static const int upright_log_scope_shift = 16;
static const int upright_log_last_scope = 0x7fff;
// Receives a line of a context of `scope`; 0 if the context has none. Returns false if nobody wants the line.
typedef bool (*upright_log_sink)(int scope, int level, const char *line);
// Installs FFmpeg's log callback, which is variadic, for the whole process. It passes lines at or below `level`
// to `sink`, on the thread that logs them, and keeps each thread's last error for upright_log_take_error(). What
// nobody wants goes to FFmpeg's own callback if `prints`.
void upright_log_install(int level, bool prints, upright_log_sink sink);
// Returns the calling thread's last error line since the last call, or an empty string. It is always empty if
// upright_log_install() wasn't called.
const char *upright_log_take_error(void);

// copy_file_range(2), which the C library declares for _GNU_SOURCE only.
ptrdiff_t upright_copy_file_range(
    int from, int64_t *from_offset, int to, int64_t *to_offset, size_t count);
