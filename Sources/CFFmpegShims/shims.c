#include "CFFmpegShims.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/log.h>

static _Thread_local char last_error[512];
static _Thread_local char taken_error[512];
static atomic_int echo = AV_LOG_QUIET;

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

static void on_log(void *avcl, int level, const char *format, va_list arguments) {
  if (level > AV_LOG_ERROR && level > atomic_load(&echo)) return;
  char line[512];
  int print_prefix = 1;
  av_log_format_line2(avcl, level, format, arguments, line, sizeof line, &print_prefix);
  if (level <= atomic_load(&echo)) fputs(line, stderr);
  if (level <= AV_LOG_ERROR) {
    // "[mov,mp4 @ 0x55..] moov atom not found\n" -> "moov atom not found"
    char *text = line;
    char *bracket = line[0] == '[' ? strstr(line, "] ") : NULL;
    if (bracket) text = bracket + 2;
    size_t length = strcspn(text, "\r\n");
    if (length == 0) return;
    if (length >= sizeof last_error) length = sizeof last_error - 1;
    memcpy(last_error, text, length);
    last_error[length] = 0;
  }
}

void upright_log_install(int echo_level) {
  atomic_store(&echo, echo_level);
  av_log_set_callback(on_log);
}

const char *upright_log_take_error(void) {
  memcpy(taken_error, last_error, sizeof taken_error);
  last_error[0] = 0;
  return taken_error;
}

void upright_malloc_keep_large_apart(size_t bytes) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, (int)bytes);
#else
  (void)bytes;
#endif
}

void upright_malloc_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
