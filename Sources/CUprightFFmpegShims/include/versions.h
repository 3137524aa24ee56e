// The differences between the FFmpeg releases that this package builds with, 5.1 to 9.0. All checks of FFmpeg
// library versions are here or in versions.c, so that Swift sees one interface.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>

/// Whether the Matroska muxer adds an audio track's initial padding to the timestamps of its packets.
bool upright_matroska_adds_delay(void);

/// Whether the MOV demuxer reads `pcmC`, the size and byte order of uncompressed audio in MP4.
bool upright_reads_pcmc(void);

// AVFrame.pkt_duration, replaced by AVFrame.duration in 6.0.
int64_t upright_frame_duration(const AVFrame *frame);
void upright_frame_set_duration(AVFrame *frame, int64_t duration);

// AVFrame.interlaced_frame and top_field_first, replaced by flags in 6.1.
bool upright_frame_is_interlaced(const AVFrame *frame);
bool upright_frame_is_top_field_first(const AVFrame *frame);
void upright_frame_set_fields(AVFrame *frame, bool interlaced, bool top_field_first);

// The side data of a stream: AVStream.side_data, replaced by AVCodecParameters.coded_side_data in 6.1.
int upright_stream_side_data_count(const AVStream *stream);
const AVPacketSideData *upright_stream_side_data(const AVStream *stream, int index);
// Returns `size` bytes to fill, which the stream owns, or NULL if there is no memory.
uint8_t *upright_stream_new_side_data(AVStream *stream, enum AVPacketSideDataType type, size_t size);
// Removes all side data, which copies of the parameters would pass on to decoders and muxers. Before 6.1
// the parameters had none.
void upright_parameters_remove_side_data(AVCodecParameters *parameters);

// The configurations that an encoder supports: fields of AVCodec, replaced by avcodec_get_supported_config()
// in 7.1. Each list ends with AV_PIX_FMT_NONE, AV_SAMPLE_FMT_NONE or 0, and is NULL if the encoder doesn't
// declare it.
const enum AVPixelFormat *upright_codec_pixel_formats(const AVCodec *codec);
const enum AVSampleFormat *upright_codec_sample_formats(const AVCodec *codec);
const int *upright_codec_sample_rates(const AVCodec *codec);

// av_parser_init() takes an enum AVCodecID since 9.0, and an int before.
AVCodecParserContext *upright_parser_init(enum AVCodecID codec);

// AVCodecContext.thread_safe_callbacks: allows the threads of a decoder to call get_buffer2 concurrently.
// Removed in 6.0, where concurrent calls are always allowed.
void upright_allow_buffers_from_threads(AVCodecContext *context);

// SwsContext: opaque until 7.1, a public structure since 8.0, which Swift imports as another type. The flags
// of libswscale are macros until 7.1 and an enumeration since then.
typedef struct UprightScaler UprightScaler;

static const int upright_scaler_bilinear = SWS_BILINEAR;
static const int upright_scaler_bicubic = SWS_BICUBIC;
static const int upright_scaler_lanczos = SWS_LANCZOS;
static const int upright_scaler_area = SWS_AREA;
static const int upright_scaler_point = SWS_POINT;
static const int upright_scaler_accurate = SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT;

UprightScaler *upright_scaler_alloc(void);
void upright_scaler_free(UprightScaler *scaler);
// Sets an AVOption of the context, before upright_scaler_init().
int upright_scaler_set(UprightScaler *scaler, const char *name, int64_t value);
int upright_scaler_init(UprightScaler *scaler);
// Sets the matrix of both sides (SWS_CS_*) and the range of each: 1 is full range.
void upright_scaler_set_colour(UprightScaler *scaler, int matrix, int source_range, int target_range);
// Scales whole frames. Returns the number of rows written, or a negative error code.
int upright_scaler_scale(UprightScaler *scaler, const uint8_t *const source[],
                         const int source_strides[], int source_rows, uint8_t *const target[],
                         const int target_strides[]);
