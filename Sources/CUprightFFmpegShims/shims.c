// copy_file_range() and syscall().
#define _GNU_SOURCE
#include <unistd.h>
#include "CUprightFFmpegShims.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <libavutil/log.h>

typedef int (*open_fn)(AVFormatContext *, AVIOContext **, const char *, int, AVDictionary **);
static _Atomic(open_fn) plain_open;

static int open_verified(AVFormatContext *context, AVIOContext **io, const char *url, int flags,
                         AVDictionary **options) {
  AVDictionary *own = NULL;
  if (!options) options = &own;
  av_dict_set(options, "tls_verify", "1", 0);
  int result = plain_open(context, io, url, flags, options);
  av_dict_free(&own);
  return result;
}

void upright_verify_certificates(AVFormatContext *context) {
  // The function is the same for every context.
  plain_open = context->io_open;
  context->io_open = open_verified;
}

static _Thread_local char last_error[512];
static _Thread_local char taken_error[512];
static _Thread_local int print_prefix = 1;
static _Atomic(upright_log_sink) log_sink;
static atomic_int log_level = AV_LOG_QUIET;
static atomic_bool log_prints;
static _Thread_local bool is_logging;

// Keeps the text of an error: "[mov,mp4 @ 0x55..] moov atom not found" -> "moov atom not found".
static void keep_error(const char *line) {
  const char *bracket = line[0] == '[' ? strstr(line, "] ") : NULL;
  const char *text = bracket ? bracket + 2 : line;
  if (!*text) return;
  size_t length = strlen(text);
  if (length >= sizeof last_error) length = sizeof last_error - 1;
  memcpy(last_error, text, length);
  last_error[length] = 0;
}

// Whether somebody wants the message.
static bool takes(void *avcl, int scope, int level, const char *format, va_list arguments) {
  int limit = atomic_load(&log_level);
  // What a scope doesn't want isn't printed either.
  if (atomic_load(&log_prints) && limit < av_log_get_level()) limit = av_log_get_level();
  if (level > AV_LOG_ERROR && level > limit) return false;
  char line[1024];
  av_log_format_line2(avcl, level, format, arguments, line, sizeof line, &print_prefix);
  line[strcspn(line, "\r\n")] = 0;
  if (!line[0]) return true;
  if (level <= AV_LOG_ERROR) keep_error(line);
  upright_log_sink sink = atomic_load(&log_sink);
  if (!sink || level > limit) return false;
  is_logging = true;
  bool is_taken = sink(scope, level, line);
  is_logging = false;
  return is_taken;
}

static void on_log(void *avcl, int sum, const char *format, va_list arguments) {
  // A receiver that calls FFmpeg would be called by itself.
  if (is_logging) return;
  // The second byte of a level is a colour. upright_log_quiet and a scope were added for a context of this package.
  int level = sum & 0xff, scope = sum >= 0 ? sum >> upright_log_scope_shift : 0;
  if (level >= upright_log_quiet) level -= upright_log_quiet;
  va_list again;
  va_copy(again, arguments);
  if (!takes(avcl, scope, level, format, arguments) && atomic_load(&log_prints))
    av_log_default_callback(avcl, sum, format, again);
  va_end(again);
}

void upright_log_install(int level, bool prints, upright_log_sink sink) {
  atomic_store(&log_sink, sink);
  atomic_store(&log_level, level);
  atomic_store(&log_prints, prints);
  av_log_set_callback(on_log);
}

const char *upright_log_take_error(void) {
  memcpy(taken_error, last_error, sizeof taken_error);
  last_error[0] = 0;
  return taken_error;
}

ptrdiff_t upright_copy_file_range(
    int from, int64_t *from_offset, int to, int64_t *to_offset, size_t count) {
  return copy_file_range(from, from_offset, to, to_offset, count, 0);
}
