// zlib's deflateInit2 is a macro, which Swift doesn't import.
#include <zlib.h>

static inline int upright_deflate_init_gzip(z_stream *stream) {
  return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
