#include "versions.h"

#include <libavutil/opt.h>

// Each release is identified by the libavutil version that it came with. 7.1 is identified by the libavcodec
// version, because libavutil's doesn't tell whether avcodec_get_supported_config() exists.
#define HAS_FRAME_DURATION (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100))
#define HAS_FIELD_FLAGS (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100))
#define HAS_CODED_SIDE_DATA (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101))
#define HAS_SUPPORTED_CONFIG (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100))

bool upright_matroska_adds_delay(void) {
  // 5.1 writes CodecDelay for Opus and leaves the timestamps unchanged; 7.1 adds it to them. So does 6.0,
  // according to its source code.
  return LIBAVFORMAT_VERSION_MAJOR >= 60;
}

bool upright_reads_pcmc(void) { return LIBAVFORMAT_VERSION_MAJOR >= 60; }

int64_t upright_frame_duration(const AVFrame *frame) {
#if HAS_FRAME_DURATION
  return frame->duration;
#else
  return frame->pkt_duration;
#endif
}

void upright_frame_set_duration(AVFrame *frame, int64_t duration) {
#if HAS_FRAME_DURATION
  frame->duration = duration;
#else
  frame->pkt_duration = duration;
#endif
}

bool upright_frame_is_interlaced(const AVFrame *frame) {
#if HAS_FIELD_FLAGS
  return frame->flags & AV_FRAME_FLAG_INTERLACED;
#else
  return frame->interlaced_frame;
#endif
}

bool upright_frame_is_top_field_first(const AVFrame *frame) {
#if HAS_FIELD_FLAGS
  return frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
  return frame->top_field_first;
#endif
}

void upright_frame_set_fields(AVFrame *frame, bool interlaced, bool top_field_first) {
#if HAS_FIELD_FLAGS
  frame->flags &= ~(AV_FRAME_FLAG_INTERLACED | AV_FRAME_FLAG_TOP_FIELD_FIRST);
  if (interlaced) frame->flags |= AV_FRAME_FLAG_INTERLACED;
  if (top_field_first) frame->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#endif
  // While both exist (6.1 to 7.1), encoders and filters set the flags again from the fields.
#if !HAS_FIELD_FLAGS || FF_API_INTERLACED_FRAME
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  frame->interlaced_frame = interlaced;
  frame->top_field_first = top_field_first;
#pragma clang diagnostic pop
#endif
}

int upright_stream_side_data_count(const AVStream *stream) {
#if HAS_CODED_SIDE_DATA
  return stream->codecpar->nb_coded_side_data;
#else
  return stream->nb_side_data;
#endif
}

const AVPacketSideData *upright_stream_side_data(const AVStream *stream, int index) {
#if HAS_CODED_SIDE_DATA
  return &stream->codecpar->coded_side_data[index];
#else
  return &stream->side_data[index];
#endif
}

uint8_t *upright_stream_new_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size) {
#if HAS_CODED_SIDE_DATA
  AVPacketSideData *side =
      av_packet_side_data_new(&stream->codecpar->coded_side_data,
                              &stream->codecpar->nb_coded_side_data, type, size, 0);
  return side ? side->data : NULL;
#else
  return av_stream_new_side_data(stream, type, size);
#endif
}

void upright_parameters_remove_side_data(AVCodecParameters *parameters) {
#if HAS_CODED_SIDE_DATA
  av_packet_side_data_free(&parameters->coded_side_data, &parameters->nb_coded_side_data);
#else
  (void)parameters;
#endif
}

#if HAS_SUPPORTED_CONFIG
static const void *supported(const AVCodec *codec, enum AVCodecConfig config) {
  const void *list = NULL;
  return avcodec_get_supported_config(NULL, codec, config, 0, &list, NULL) < 0 ? NULL : list;
}
#endif

const enum AVPixelFormat *upright_codec_pixel_formats(const AVCodec *codec) {
#if HAS_SUPPORTED_CONFIG
  return supported(codec, AV_CODEC_CONFIG_PIX_FORMAT);
#else
  return codec->pix_fmts;
#endif
}

const enum AVSampleFormat *upright_codec_sample_formats(const AVCodec *codec) {
#if HAS_SUPPORTED_CONFIG
  return supported(codec, AV_CODEC_CONFIG_SAMPLE_FORMAT);
#else
  return codec->sample_fmts;
#endif
}

const int *upright_codec_sample_rates(const AVCodec *codec) {
#if HAS_SUPPORTED_CONFIG
  return supported(codec, AV_CODEC_CONFIG_SAMPLE_RATE);
#else
  return codec->supported_samplerates;
#endif
}

AVCodecParserContext *upright_parser_init(enum AVCodecID codec) { return av_parser_init(codec); }

void upright_allow_buffers_from_threads(AVCodecContext *context) {
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  context->thread_safe_callbacks = 1;
#pragma clang diagnostic pop
#else
  (void)context;
#endif
}

static struct SwsContext *sws(UprightScaler *scaler) { return (struct SwsContext *)scaler; }

UprightScaler *upright_scaler_alloc(void) { return (UprightScaler *)sws_alloc_context(); }

void upright_scaler_free(UprightScaler *scaler) { sws_freeContext(sws(scaler)); }

int upright_scaler_set(UprightScaler *scaler, const char *name, int64_t value) {
  return av_opt_set_int(scaler, name, value, 0);
}

int upright_scaler_init(UprightScaler *scaler) { return sws_init_context(sws(scaler), NULL, NULL); }

void upright_scaler_set_colour(UprightScaler *scaler, int matrix, int source_range,
                               int target_range) {
  const int *coefficients = sws_getCoefficients(matrix);
  sws_setColorspaceDetails(sws(scaler), coefficients, source_range, coefficients, target_range, 0,
                           1 << 16, 1 << 16);
}

int upright_scaler_scale(UprightScaler *scaler, const uint8_t *const source[],
                         const int source_strides[], int source_rows, uint8_t *const target[],
                         const int target_strides[]) {
  return sws_scale(sws(scaler), source, source_strides, 0, source_rows, target, target_strides);
}
