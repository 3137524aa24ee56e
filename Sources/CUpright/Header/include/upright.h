/*
 * Upright in C: orients video by a rotation policy.
 *
 * Two libraries share this header. libuprightpolicy.so has the parts "Both libraries", "Policy" and "Frames",
 * and needs neither FFmpeg nor a Swift toolchain. libupright.so has all parts. A program links one of them.
 *
 * Statuses. A function returns an upright_status, and describes a failure in the caller's upright_error if it
 * is given one (NULL: not wanted). No call ends the process or throws. What no library can detect remains the
 * caller's duty: a pointer must point to memory of the size that the call needs, a string must end with a zero
 * byte, and planes must not overlap.
 *
 * Handles. upright_plan, upright_frames, upright_session, upright_transcode, upright_reader, upright_kept_frame,
 * upright_live, upright_segments and upright_source are opaque and are never dereferenced by the caller. A handle that was freed, has
 * another type or was never made is detected: UPRIGHT_INVALID. Every _new has a _free. It returns when no call is using the handle any more; from then on
 * there is no callback. _free(NULL) does nothing.
 *
 * Threads. Functions without a handle may be called from any thread. A handle may move between threads. While
 * a call is using it, a second call is refused with UPRIGHT_BUSY, also if it comes from a callback of the
 * first. Functions that say "from any thread" are always allowed, also in callbacks and beside other calls.
 *
 * Memory. Strings and bytes that are passed in are copied, planes are borrowed for the call. Strings are
 * UTF-8. A char ** receives a string that is the caller's own, to be freed with upright_string_free. What a
 * struct that the library fills points to is the library's, and its comment says how long it stays valid.
 *
 * Growth. A struct that starts with "size" is prepared by the caller: all of it zero, except size, which is
 * its sizeof. The library writes no byte beyond it. Later versions append fields, for which zero means what
 * earlier versions did.
 *
 * Side effects. None in the process, unless upright_log is called: no log callback, no signal handler, no
 * environment variable is changed and nothing is printed. A call in the child of a fork() that the parent made with handles is not supported.
 *
 * Times are seconds (double) for events and ticks with their time base for frames and packets.
 */
#ifndef UPRIGHT_H
#define UPRIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define UPRIGHT_API __attribute__((visibility("default")))
#else
#define UPRIGHT_API
#endif

/* ---------------------------------------------------------------------------------------------------------
 * Both libraries
 * ------------------------------------------------------------------------------------------------------ */

/* The version of the ABI that this header describes. It changes when a program that was compiled with an
 * earlier header would no longer run; it is the number in the SONAME. */
#define UPRIGHT_ABI_VERSION 0

/* The version of the library that this header belongs to. */
#define UPRIGHT_VERSION_MAJOR 0
#define UPRIGHT_VERSION_MINOR 3
#define UPRIGHT_VERSION_PATCH 0

/* UPRIGHT_ABI_VERSION of the loaded library. */
UPRIGHT_API uint32_t upright_abi_version(void);

/* The version of the loaded library, such as "0.3.0". Never freed. */
UPRIGHT_API const char *upright_version(void);

/* The result of a call. Failures are numbered as the exit codes of the command line. New ones may be added. */
typedef int32_t upright_status;
enum {
  /* Done. */
  UPRIGHT_OK = 0,
  /* Not now: the queue is full, or nothing has arrived within the timeout. Nothing was taken. */
  UPRIGHT_AGAIN = 1,
  /* There is no more output. */
  UPRIGHT_END = 2,
  /* A NULL where none is allowed, a handle that is not one, a struct without its size, or a call out of
   * order: an error in the calling program. */
  UPRIGHT_INVALID = 3,
  /* Another call is using the handle. */
  UPRIGHT_BUSY = 4,
  /* An option or a value is invalid, or two contradict each other. */
  UPRIGHT_USAGE = 64,
  /* A policy, an event or the media is malformed. */
  UPRIGHT_BAD_DATA = 65,
  /* The input does not exist or cannot be read. */
  UPRIGHT_NO_INPUT = 66,
  /* A codec, container or protocol is missing, or something cannot be done with samples of this format. */
  UPRIGHT_UNAVAILABLE = 69,
  /* An internal error. */
  UPRIGHT_FAULT = 70,
  /* The output cannot be created. */
  UPRIGHT_CANNOT_CREATE = 73,
  /* Reading or writing failed after the start. */
  UPRIGHT_INPUT_OUTPUT = 74,
  /* A setting is invalid. */
  UPRIGHT_CONFIGURATION = 78,
  /* Cancelled, by a call or by what a callback returned. */
  UPRIGHT_CANCELLED = 130
};

/* The name of a status, such as "badData"; "unknown" for a number that is not one. Never freed. */
UPRIGHT_API const char *upright_status_name(upright_status status);

/* Describes a failed call. Filled if the call fails, and left alone otherwise. Texts that don't fit are cut
 * off between two characters. */
typedef struct upright_error {
  size_t size;
  /* What the call returned. */
  upright_status status;
  /* FFmpeg's error code (AVERROR) if one of its libraries failed; else 0. */
  int32_t library_code;
  /* What happened. */
  char message[512];
  /* The file, line, option or argument that the error is about; may be empty. */
  char location[256];
  /* What can be done about it; may be empty. */
  char remedy[256];
} upright_error;

/* Frees a string that the library returned through a char **. NULL is allowed. A string must be freed once;
 * a second time can't be detected. */
UPRIGHT_API void upright_string_free(char *string);

/* A fraction: a time base in seconds per tick, or an aspect ratio. */
typedef struct upright_rational {
  int32_t numerator;
  int32_t denominator;
} upright_rational;

/* How a device is held, as in UIDeviceOrientation. */
enum {
  UPRIGHT_DEVICE_PORTRAIT = 1,
  UPRIGHT_DEVICE_PORTRAIT_UPSIDE_DOWN = 2,
  UPRIGHT_DEVICE_LANDSCAPE_LEFT = 3,
  UPRIGHT_DEVICE_LANDSCAPE_RIGHT = 4,
  UPRIGHT_DEVICE_FACE_UP = 5,
  UPRIGHT_DEVICE_FACE_DOWN = 6
};

/* The orientation of an app's interface, as in UIInterfaceOrientation. */
enum {
  UPRIGHT_INTERFACE_PORTRAIT = 1,
  UPRIGHT_INTERFACE_PORTRAIT_UPSIDE_DOWN = 2,
  UPRIGHT_INTERFACE_LANDSCAPE_RIGHT = 3,
  UPRIGHT_INTERFACE_LANDSCAPE_LEFT = 4
};

/* What an app's interface and its stream are like at a time. */
typedef struct upright_format {
  size_t size;
  /* The orientation of the app: UPRIGHT_INTERFACE_... */
  int32_t app_orientation;
  /* Whether the camera is sent (captureEnabledIn): 0 or 1. */
  int32_t capture_enabled;
  /* The size that the app is told to capture, in pixels. */
  int32_t capture_width, capture_height;
  /* The size that the stream is encoded in, in pixels. */
  int32_t encode_width, encode_height;
} upright_format;

/* ---------------------------------------------------------------------------------------------------------
 * Policy (both libraries): events in, decisions and stream formats out
 *
 * A policy is the name of a built-in one ("phone", see `upright policies`) or a policy document, JSON that
 * begins with a brace. Events are JSON Lines, as in an events file: one object per line, such as
 * {"at": 3.2, "device": "landscapeLeft"}; blank lines are skipped. Their times don't go backwards.
 * ------------------------------------------------------------------------------------------------------ */

/* The decisions of a policy over time. */
typedef struct upright_plan upright_plan;

/* Makes a plan without events. policy may be NULL: "phone".
 * Fails with BAD_DATA for a policy that is malformed or can't start. */
UPRIGHT_API upright_status upright_plan_new(const char *policy, upright_plan **plan, upright_error *error);

/* Frees a plan. INVALID for a handle that isn't one, or that another thread is freeing. BUSY in a callback of
 * the handle, which is not freed then. The same applies to every _free. */
UPRIGHT_API upright_status upright_plan_free(upright_plan *plan);

/* Adds events, one per line. Fails with BAD_DATA for a line that isn't an event: then none is added; or for
 * an event that makes no sense in this policy: then those before it are added. */
UPRIGHT_API upright_status upright_plan_events(upright_plan *plan, const char *lines, upright_error *error);

/* Completes the rotations that end by `seconds`, and forgets what is only needed before. For a plan without
 * an end: call it now and then. */
UPRIGHT_API upright_status upright_plan_advance(upright_plan *plan, double seconds, upright_error *error);

/* Completes all rotations, so that every event has its decision. */
UPRIGHT_API upright_status upright_plan_finish(upright_plan *plan, upright_error *error);

/* What the stream is like at `seconds`, as far as the events so far tell. */
UPRIGHT_API upright_status upright_plan_format(
  upright_plan *plan, double seconds, upright_format *format, upright_error *error);

/* Removes what was decided since the last call: {"events": [...], "formats": [...]}, as in a report. The
 * formats are those that no later event can change. */
UPRIGHT_API upright_status upright_plan_take(upright_plan *plan, char **json, upright_error *error);

/* What a policy decides for events, from start to end, as `upright explain --json` prints it. events may be
 * NULL. */
UPRIGHT_API upright_status upright_explain(
  const char *policy, const char *events, char **json, upright_error *error);

/* ---------------------------------------------------------------------------------------------------------
 * Frames (both libraries): frames in memory in, upright frames in the caller's memory out
 *
 * A frame is drawn in one pass. While nothing turns, no memory is allocated.
 * ------------------------------------------------------------------------------------------------------ */

/* How the samples of a frame are stored. A name without a number means 8 bits. 10 and 12 bits are in the low
 * bits of two bytes, except for P010, where 10 are in the high bits; in the byte order of the CPU. */
enum {
  UPRIGHT_I420 = 1,     /* Three planes, 4:2:0: yuv420p. */
  UPRIGHT_I422 = 2,     /* Three planes, 4:2:2. A quarter turn makes it I440. */
  UPRIGHT_I440 = 3,     /* Three planes, 4:4:0. A quarter turn makes it I422. */
  UPRIGHT_I444 = 4,     /* Three planes, 4:4:4. */
  UPRIGHT_NV12 = 5,     /* A plane of luma and one of Cb and Cr in pairs, 4:2:0. */
  UPRIGHT_GRAY = 6,     /* Luma alone. */
  UPRIGHT_RGBA = 7,     /* One plane of red, green, blue, alpha. */
  UPRIGHT_BGRA = 8,     /* One plane of blue, green, red, alpha. */
  UPRIGHT_P010 = 9,     /* As NV12, with 10 bits. */
  UPRIGHT_I420_10 = 10,
  UPRIGHT_I422_10 = 11,
  UPRIGHT_I440_10 = 12,
  UPRIGHT_I444_10 = 13,
  UPRIGHT_I420_12 = 14,
  UPRIGHT_I422_12 = 15,
  UPRIGHT_I440_12 = 16,
  UPRIGHT_I444_12 = 17,
  UPRIGHT_RGB24 = 18,   /* One plane of red, green, blue. It can be turned, not rescaled. */
  UPRIGHT_GRAY_10 = 19,
  UPRIGHT_BGR24 = 20,   /* One plane of blue, green, red. It can be turned, not rescaled. */
  UPRIGHT_GBRP = 21,    /* Three planes: green, blue, red. */
  UPRIGHT_NV21 = 22,    /* As NV12, with Cr before Cb. */
  UPRIGHT_YUY2 = 23,    /* One plane of luma, Cb, luma, Cr for each two pixels. Only read: it becomes I422, or I440. */
  UPRIGHT_YVYU = 24     /* As YUY2, with Cr before Cb. */
};

/* Where the samples of subsampled chroma are between those of luma. The numbers up to 6 are those of FFmpeg's
 * AVChromaLocation. 7 to 9 are what turning makes of others. */
enum {
  UPRIGHT_CHROMA_UNSPECIFIED = 0, /* As LEFT. */
  UPRIGHT_CHROMA_LEFT = 1,        /* The default of H.264 and HEVC. */
  UPRIGHT_CHROMA_CENTER = 2,      /* JPEG. */
  UPRIGHT_CHROMA_TOP_LEFT = 3,    /* BT.2020. */
  UPRIGHT_CHROMA_TOP = 4,
  UPRIGHT_CHROMA_BOTTOM_LEFT = 5,
  UPRIGHT_CHROMA_BOTTOM = 6,
  UPRIGHT_CHROMA_RIGHT = 7,
  UPRIGHT_CHROMA_TOP_RIGHT = 8,
  UPRIGHT_CHROMA_BOTTOM_RIGHT = 9
};

/* A frame in the caller's memory. */
typedef struct upright_frame {
  size_t size;
  /* UPRIGHT_I420, ... */
  int32_t pixels;
  /* 1 to 65535 pixels. */
  int32_t width, height;
  /* UPRIGHT_CHROMA_... */
  int32_t chroma;
  /* The matrix of YUV samples, for the background's colour: MatrixCoefficients of ISO/IEC 23091-2, which
   * AVColorSpace has too. 1: BT.709; 9, 10: BT.2020; others are taken for BT.601. */
  int32_t matrix;
  /* Whether luma is 0...255 rather than 16...235: 0 or 1. */
  int32_t full_range;
  /* The width of a pixel over its height; 0:0 is 1:1. */
  upright_rational sample_aspect_ratio;
  /* The presentation time in ticks, and seconds per tick. Only for upright_frames_layout. */
  int64_t pts;
  upright_rational time_base;
  /* What the stream says of the frame's orientation, as in EXIF: 1 (upright) to 8; 0 if it says nothing. Only
   * for "frames": "metadata". */
  int32_t orientation;
  int32_t reserved;
  /* The first row of each plane, as many as `pixels` has. Those of a source are only read. */
  uint8_t *planes[4];
  /* Bytes from a row to the next; negative for rows that are stored bottom-up. */
  ptrdiff_t strides[4];
} upright_frame;

/* What becomes of a frame: the buffer to have at hand, and how it is filled. */
typedef struct upright_layout {
  size_t size;
  /* Whether the encoder has to be opened anew, and to begin with a keyframe: 1 for the first frame and where
   * the size, the pixels, the matrix, the range or the chroma position differ from the last frame's, else 0. The
   * orientation of the app may change without it. */
  int32_t changed;
  /* The format of the buffer that upright_frames_draw fills. Its pixels are square. */
  int32_t pixels;
  int32_t width, height;
  int32_t chroma;
  /* What turns the stored frame upright, as in EXIF: 1 (nothing) to 8. */
  int32_t turn;
  /* The orientation of the app: UPRIGHT_INTERFACE_... */
  int32_t app_orientation;
  /* Whether the camera is sent; if not, the background is drawn. */
  int32_t capture_enabled;
  /* The size that the app is told to capture. */
  int32_t capture_width, capture_height;
  /* Which part of the source is shown: x, y, width, height in stored pixels. */
  int32_t source_rect[4];
  /* Where it is shown in the buffer: x, y, width, height. */
  int32_t target_rect[4];
  /* Maps a position in the stored frame to one in the buffer: x' = a x + c y + tx, y' = b x + d y + ty, in
   * the order a, b, c, d, tx, ty. */
  double transform[6];
  /* Whether the upright frame is the stored one: 0 or 1. If it is, there is nothing to draw, and a program passes
   * its frame on. */
  int32_t is_identity;
  int32_t reserved;
} upright_layout;

/* Orients the frames of one stream. */
typedef struct upright_frames upright_frames;

/* Makes an adapter for one stream.
 *
 * policy: as for upright_plan_new. options: a JSON object with long options of the command line, or NULL:
 *   "frames": "metadata" (default), "sensor", "sensor:90,front,mirror" or "upright"
 *   "reference": "gravity" or "interface"
 *   "canvas": "follow", "portrait", "landscape", "initial" or "frame" (each upright frame's own size); by default
 *     "frame" without a size here or in the policy, unless the frames are a sensor's, else "follow"
 *   "size": "720x1280", or a preset such as "720p"
 *   "fit": "fit" (default), "fill" or "stretch"
 *   "anchor": "center" (default), "top", "bottomLeading", ...
 *   "background": "RRGGBB"
 *   "filter": "bicubic" (default), "bilinear", "lanczos" or "area"
 *   "gravity": "android" (default) or "iio"
 *   "pixels": the format of the upright frames: "native" (default: the input's, after the turn), "rgb24" (of YUV, gray or
 *     RGB samples of 8 bits), "nv12" or "yuv420p" (of YUV samples of 8 bits)
 * Fails with USAGE for an option that is unknown or invalid, BAD_DATA for the policy. */
UPRIGHT_API upright_status upright_frames_new(
  const char *policy, const char *options, upright_frames **frames, upright_error *error);

UPRIGHT_API upright_status upright_frames_free(upright_frames *frames);

/* Posts events for the stream, one per line; "at" is a time of the stream in seconds. An event without "at"
 * takes effect at the next frame, as one whose frame has passed. From any thread.
 * Fails with BAD_DATA for a line that isn't an event, USAGE if 10 000 events wait: none is posted then. */
UPRIGHT_API upright_status upright_frames_events(
  upright_frames *frames, const char *lines, upright_error *error);

/* Posts that the device is held in another way from `at` on; NaN: from the next frame on. device:
 * UPRIGHT_DEVICE_... From any thread. */
UPRIGHT_API upright_status upright_frames_device(
  upright_frames *frames, double at, int32_t device, upright_error *error);

/* Posts a reading of the direction of gravity, in g, as Core Motion has it: x right, y up, z out of the screen,
 * and (0, -1, 0) for a device at rest in portrait. A reading of a length of 5 to 15 is taken for m/s2. NaN as `at`: at
 * the next frame. From any thread. */
UPRIGHT_API upright_status upright_frames_gravity(
  upright_frames *frames, double at, double x, double y, double z, upright_error *error);

/* Tells what `frame` becomes: its planes aren't used. Frames come in the order of their times.
 * Fails with BAD_DATA for a time beyond 1e9 seconds, such as AV_NOPTS_VALUE, which changes nothing; and for an
 * event that makes no sense in the policy, and whose time has come: it is left out, and the call can be repeated.
 * UNAVAILABLE if the frame would have to be rescaled and can't be, or if "pixels" can't be made of it. */
UPRIGHT_API upright_status upright_frames_layout(
  upright_frames *frames, const upright_frame *frame, upright_layout *layout, upright_error *error);

/* Tells what a frame of this format would become, as far as the events that took effect tell, and changes nothing:
 * for a program that has to name a format before the first frame. `changed` is relative to the last frame.
 * Fails as upright_frames_layout. */
UPRIGHT_API upright_status upright_frames_peek(
  upright_frames *frames, const upright_frame *frame, upright_layout *layout, upright_error *error);

/* Draws `source` into `target` as the last layout says. Every sample of `target` is written once, and no
 * byte between its rows. Of `target`, the size, `pixels` and the planes count. May be called again, for
 * another buffer.
 * Fails with INVALID before the first layout, USAGE if a frame isn't of the layout's format, a plane is
 * missing or rows overlap, UNAVAILABLE if it shrinks too far (30 times with "bicubic"): nothing is written. */
UPRIGHT_API upright_status upright_frames_draw(
  upright_frames *frames, const upright_frame *source, const upright_frame *target, upright_error *error);

/* Removes the decisions since the last call, a JSON array as in a report; NULL if there are none. They are
 * kept until they are taken. */
UPRIGHT_API upright_status upright_frames_decisions(
  upright_frames *frames, char **json, upright_error *error);

/* ---------------------------------------------------------------------------------------------------------
 * Messages (libupright.so)
 * ------------------------------------------------------------------------------------------------------ */

/* Receives a message of FFmpeg's libraries: its level (AV_LOG_ERROR is 16) and one line. On any thread, by several at a
 * time. */
typedef void (*upright_log_callback)(void *context, int32_t level, const char *line);

/* Passes the messages of FFmpeg's libraries, as important as `level` or more, to `callback`, or discards them if it is
 * NULL, and nothing to standard error. It changes the process: it replaces FFmpeg's log
 * callback (av_log_set_callback). Without it, FFmpeg's callback stays as it is; FFmpeg's own prints what is found
 * while a damaged input is opened. Fails with USAGE for a level that is none. */
UPRIGHT_API upright_status upright_log(
  int32_t level, upright_log_callback callback, void *context, upright_error *error);

/* Called once, on any thread, when a callback for messages isn't called any more. */
typedef void (*upright_log_release)(void *context);

/* Passes the messages of FFmpeg's libraries about what this thread makes from now on to `callback`: about each session,
 * reader, transcode and live session, its input and outputs, on whichever thread. NULL as `callback`: no longer. What
 * was made keeps its callback until it is freed and its threads have ended; then `release` is called, if it isn't NULL.
 * What concerns nothing of these goes where it would go without this function, which replaces FFmpeg's log callback too.
 * Fails with USAGE for a level that is none. */
UPRIGHT_API upright_status upright_log_scope(
  int32_t level, upright_log_callback callback, void *context, upright_log_release release, upright_error *error);

/* ---------------------------------------------------------------------------------------------------------
 * Packets (libupright.so): compressed frames in memory in, compressed upright frames out
 *
 * A session decodes, turns and encodes on threads of its own. One thread may send while another receives;
 * a program with one thread sends and receives by turns with a timeout of 0. All queues are bounded.
 * ------------------------------------------------------------------------------------------------------ */

/* A time that is not known. */
#define UPRIGHT_NO_TIME INT64_MIN

/* The track of a packet. */
enum { UPRIGHT_VIDEO = 0, UPRIGHT_AUDIO = 1 };

/* A stream of packets. */
typedef struct upright_stream {
  size_t size;
  /* Video: "h264", "hevc", "vp8", "vp9", "av1". Audio: "aac", "opus", "mp3", "pcm_alaw", "pcm_mulaw". */
  const char *codec;
  /* The codec's configuration (avcC, hvcC, av1C, vpcC; AudioSpecificConfig, OpusHead); NULL and 0 if
   * everything is in band. */
  const uint8_t *extradata;
  size_t extradata_size;
  /* Video: the coded size, or 0 if only the packets tell. */
  int32_t width, height;
  /* Audio: samples per second, and the number of channels. */
  int32_t sample_rate, channels;
  /* Seconds per tick of the packets. Audio has ticks of a sample. */
  upright_rational time_base;
} upright_stream;

/* A compressed frame, or a packet of audio. */
typedef struct upright_packet {
  size_t size;
  /* The access unit. H.264 and HEVC: NAL units with start codes, or with length fields if the stream has
   * extradata. AV1: a temporal unit. VP8, VP9: a frame. Audio: an access unit without ADTS or Ogg. */
  const uint8_t *bytes;
  size_t length;
  /* The presentation and decoding time, in ticks; dts is UPRIGHT_NO_TIME if it equals pts. */
  int64_t pts, dts;
  /* In ticks; 0 if unknown. */
  int64_t duration;
  /* Seconds per tick. */
  upright_rational time_base;
  /* UPRIGHT_VIDEO or UPRIGHT_AUDIO. */
  int32_t track;
  /* Whether decoding can start here: 0 or 1. */
  int32_t is_key;
  /* Whether the frame's RTP packets carried `cvo`: 0 or 1. If they didn't, the last one applies. */
  int32_t has_cvo;
  /* The byte of urn:3gpp:video-orientation (3GPP TS 26.114, 7.4.5). */
  int32_t cvo;
} upright_packet;

/* The kinds of output. */
enum {
  /* The packets from here on have this format: `stream` and `json` tell it. The next packet is a keyframe. */
  UPRIGHT_OUTPUT_FORMAT = 1,
  /* `packet` is a turned and encoded frame, or a packet of audio, as it was sent. */
  UPRIGHT_OUTPUT_PACKET = 2,
  /* An event was decided: `json`. */
  UPRIGHT_OUTPUT_DECISION = 3,
  /* An event makes no sense in this policy and was left out: `json` is a string that says why. */
  UPRIGHT_OUTPUT_REFUSED = 4
};

/* An element of a session's output. What it points to is valid until the next call that receives from the
 * session, or until the callback returns, and until the session is freed. */
typedef struct upright_output {
  size_t size;
  /* UPRIGHT_OUTPUT_... */
  int32_t kind;
  int32_t reserved;
  upright_packet packet;
  upright_stream stream;
  /* An entry of "formats" or "events" of a report, or a string; NULL for a packet. */
  const char *json;
} upright_output;

/* A session. */
typedef struct upright_session upright_session;

/* Starts a session.
 *
 * video, audio: the packets that will be sent; audio may be NULL. Packets of audio come out as they went in.
 * policy: as for upright_plan_new. options: a JSON object with the options of upright_frames_new (except
 * "filter"; "canvas" is "follow" by default) and with
 *   "codec": "h264" (default), "hevc", "vp9", "av1"
 *   "crf": constant quality, or "bitrate": "1500k"
 *   "speed": the encoder's preset
 *   "encoder-options": "key=value:key=value"
 *   "keyframe-seconds": the longest time between keyframes, 2 by default
 *   "frame-rate": frames per second for the rate control, 30 by default
 * Fails with USAGE, BAD_DATA for the policy, UNAVAILABLE if a codec isn't linked. */
UPRIGHT_API upright_status upright_session_new(
  const upright_stream *video, const upright_stream *audio, const char *policy, const char *options,
  upright_session **session, upright_error *error);

/* Starts a session whose input is RTP packets: H.264, VP8 or VP9, with CVO in their header extensions, and Opus or
 * G.711. They are sorted and joined into frames. A missing packet is waited for until 300 ms have passed or 512
 * later ones have arrived; then the decoder conceals the loss.
 *
 * sdp: the session description (RFC 8866): the codecs, the payload types, and which header extension is CVO. Its
 * addresses and ports are not used. policy, options: as for upright_session_new.
 * Output begins with the first keyframe that can be decoded. Video has ticks of 1/90000 s, audio those of its
 * clock; times count from the first packet.
 * Fails as upright_session_new; with BAD_DATA for a description that can't be read. */
UPRIGHT_API upright_status upright_session_new_rtp(
  const char *sdp, const char *policy, const char *options, upright_session **session, upright_error *error);

/* Cancels and frees a session. Waiting calls of other threads return first, with CANCELLED or INVALID. */
UPRIGHT_API upright_status upright_session_free(upright_session *session);

/* Posts events, as upright_frames_events. Times are those of the packets, in seconds. From any thread. */
UPRIGHT_API upright_status upright_session_events(
  upright_session *session, const char *lines, upright_error *error);

/* Sends a packet, in decoding order, and copies it. Waits up to `timeout` seconds while the session is behind;
 * 0: not at all, negative: as long as it takes. One thread at a time.
 * AGAIN: nothing was taken. Fails with the error that ended the session, INVALID after upright_session_finish. */
UPRIGHT_API upright_status upright_session_send(
  upright_session *session, const upright_packet *packet, double timeout, upright_error *error);

/* Sends an RTP packet of either track, in the order of arrival, and copies it; its payload type tells which track.
 * For a session of upright_session_new_rtp; INVALID for another one, and so is upright_session_send for this one.
 * Waits and fails as upright_session_send: at AGAIN, as on a network, the packet is lost if it isn't sent again. */
UPRIGHT_API upright_status upright_session_send_rtp(
  upright_session *session, const uint8_t *bytes, size_t length, double timeout, upright_error *error);

/* Receives the next element. Waits up to `timeout` seconds, as upright_session_send. One thread at a time.
 * AGAIN: there is none yet. END: there will be none. Fails with the error that ended the session. */
UPRIGHT_API upright_status upright_session_receive(
  upright_session *session, double timeout, upright_output *output, upright_error *error);

/* Receives an element. Anything but 0 ends the session. */
typedef int32_t (*upright_output_callback)(void *context, const upright_output *output);

/* Calls `callback` on this thread for each element until the end, and returns OK. Another thread sends.
 * Fails as upright_session_receive; with CANCELLED if the callback doesn't return 0. In the callback, calls
 * that receive are refused with BUSY, and so is upright_session_free. */
UPRIGHT_API upright_status upright_session_run(
  upright_session *session, upright_output_callback callback, void *context, upright_error *error);

/* A descriptor (eventfd(2)) that becomes readable when the session may have space for a packet again, or an element
 * of output, and when it ends: for programs that wait by poll or epoll. Read it, which resets it, then send and
 * receive with a timeout of 0 until AGAIN. It is the session's, and is closed with it. From any thread. */
UPRIGHT_API upright_status upright_session_event_fd(
  upright_session *session, int32_t *descriptor, upright_error *error);

/* What has gone through the session so far: {"framesIn": 60, "framesOut": 58, "keyframes": 2, "audioPackets": 0,
 * "bytesOut": 41230, "formats": 2, "refusedEvents": 0}. From any thread. */
UPRIGHT_API upright_status upright_session_counters(upright_session *session, char **json, upright_error *error);

/* Makes the next frame a keyframe. From any thread. */
UPRIGHT_API upright_status upright_session_request_keyframe(upright_session *session, upright_error *error);

/* Ends the input. The output ends after the packets of all frames. From any thread; again does nothing. */
UPRIGHT_API upright_status upright_session_finish(upright_session *session, upright_error *error);

/* Ends the session within one frame. Waiting calls return CANCELLED. From any thread. */
UPRIGHT_API upright_status upright_session_cancel(upright_session *session, upright_error *error);

/* Packs packets into fragmented MP4 in memory: an initialization segment for each format, and media segments. */
typedef struct upright_segments upright_segments;

/* Makes a packer. time_base: seconds per tick of the video packets. audio: the audio track, or NULL. */
UPRIGHT_API upright_status upright_segments_new(
  upright_rational time_base, const upright_stream *audio, upright_segments **segments, upright_error *error);

UPRIGHT_API upright_status upright_segments_free(upright_segments *segments);

/* Begins a format, such as that of UPRIGHT_OUTPUT_FORMAT, and gives its initialization segment. Cut the segment before
 * it first. The bytes are valid until the next call with the packer.
 * Fails with BAD_DATA for a description that MP4 can't have. */
UPRIGHT_API upright_status upright_segments_begin(
  upright_segments *segments, const upright_stream *video, const uint8_t **bytes, size_t *length,
  upright_error *error);

/* Adds a packet of either track to the segment. Fails with USAGE if no format was begun. */
UPRIGHT_API upright_status upright_segments_append(
  upright_segments *segments, const upright_packet *packet, upright_error *error);

/* Ends the segment, which a keyframe should follow, and gives it, as upright_segments_begin. */
UPRIGHT_API upright_status upright_segments_cut(
  upright_segments *segments, const uint8_t **bytes, size_t *length, upright_error *error);

/* ---------------------------------------------------------------------------------------------------------
 * Files (libupright.so)
 * ------------------------------------------------------------------------------------------------------ */

/* The kinds of updates. */
enum {
  /* `frames`, `seconds`, `duration` and `elapsed` tell how far it is. */
  UPRIGHT_UPDATE_PROGRESS = 1,
  /* An event was decided: `json`. */
  UPRIGHT_UPDATE_DECISION = 2,
  /* The output's format changes: `json`. */
  UPRIGHT_UPDATE_FORMAT = 3
};

/* What happens during a transcode. Valid until the callback returns. */
typedef struct upright_update {
  size_t size;
  /* UPRIGHT_UPDATE_... */
  int32_t kind;
  int32_t reserved;
  /* Frames that were read. */
  int64_t frames;
  /* The time of the last frame, the duration of the input (negative if it is unknown), and the time that has
   * passed since the start, in seconds. */
  double seconds, duration, elapsed;
  /* An entry of "events" or "formats" of a report; NULL for progress. */
  const char *json;
} upright_update;

/* Receives an update, on a thread of the library. Anything but 0 cancels the transcode. */
typedef int32_t (*upright_update_callback)(void *context, const upright_update *update);

/* A transcode of one file. */
typedef struct upright_transcode upright_transcode;

/* Prepares a transcode, and opens nothing.
 *
 * input, output: paths or URLs. The output's name determines the container. policy: as for upright_plan_new.
 * events: JSON Lines, in seconds from the first frame; or NULL. options: NULL, or a JSON object with the long
 * options of `upright transcode` that concern video and encoding, such as {"frames": "sensor", "canvas":
 * "follow", "size": "720p", "crf": 23, "overlay": ["logo.png@topTrailing:24"], "strict": true}, and
 *   "input-format", "format": the container, where the name doesn't tell
 *   "overwrite": whether an existing output may be replaced
 * Fails with USAGE for options that are invalid or contradict each other, BAD_DATA for the policy or an event. */
UPRIGHT_API upright_status upright_transcode_new(
  const char *input, const char *output, const char *policy, const char *events, const char *options,
  upright_transcode **transcode, upright_error *error);

/* Frees a transcode. One that another thread runs is cancelled, and has returned first. */
UPRIGHT_API upright_status upright_transcode_free(upright_transcode *transcode);

/* Transcodes, and returns when it is done. Once per handle; a second time is INVALID.
 *
 * callback: called with updates, one at a time, while this call waits; or NULL. report: the report as JSON, or NULL if
 * it isn't wanted; set to NULL if the call fails. Fails with CANCELLED if it was cancelled: nothing is left
 * under the output's name. */
UPRIGHT_API upright_status upright_transcode_run(
  upright_transcode *transcode, upright_update_callback callback, void *context, char **report,
  upright_error *error);

/* Returns what a run would do, as JSON, and writes nothing. Reads the input as far as a run has to. */
UPRIGHT_API upright_status upright_transcode_plan(
  upright_transcode *transcode, char **json, upright_error *error);

/* Ends a run early: what was read is finished, and the output plays. The report says so. From any thread. */
UPRIGHT_API upright_status upright_transcode_stop(upright_transcode *transcode, upright_error *error);

/* Ends a run at the next frame, without an output. From any thread. */
UPRIGHT_API upright_status upright_transcode_cancel(upright_transcode *transcode, upright_error *error);

/* A frame that a reader returns. */
typedef struct upright_read_frame {
  size_t size;
  /* Whether an encoder of the frames has to be opened anew: 1 for the first frame and where the size, the pixels,
   * the range or the chroma position differ from the last frame's, else 0. */
  int32_t changed;
  /* What turned the stored frame upright, as in EXIF: 1 (nothing) to 8. */
  int32_t turn;
  /* The orientation of the app: UPRIGHT_INTERFACE_... */
  int32_t app_orientation;
  /* ColourPrimaries and TransferCharacteristics of ISO/IEC 23091-2; 2 is unspecified. */
  int32_t primaries, transfer;
  /* Whether nothing else reads the planes, so that upright_reader_keep makes them the caller's to change: 0 or 1. */
  int32_t writable;
  /* The time from the first frame of the input, in seconds. */
  double seconds;
  /* In ticks of frame.time_base; 0 if unknown. */
  int64_t duration;
  /* The upright frame, with square pixels, and its presentation time in ticks of the input (the clocks of MPEG-TS
   * are joined, and begin at zero). Its planes are only read; they are valid until the next call with the reader
   * that returns a frame, and until it is freed; see upright_reader_keep. "rgb24" of a width that is a multiple of
   * eight has no padding. */
  upright_frame frame;
} upright_read_frame;

/* Reads the frames of a file, upright. */
typedef struct upright_reader upright_reader;

/* Prepares a reader, and opens nothing.
 *
 * input: a path or URL. options: NULL, or a JSON object with options of upright_transcode_new that concern the
 * reading and the layout of frames ("frames", "canvas", "size", "fit", "start", "to", "strict", ...), and
 *   "pixels": "native" (default: the input's, or I420), "rgb24", "nv12" or "yuv420p"
 *   "policy": the name of a policy, or a policy document as text or object; "phone" by default
 *   "events": JSON Lines, or an array of objects, in seconds from the first frame
 *   "input-format": the container, if it can't be detected
 * Without "canvas" and "size", each frame has its own size.
 * Fails with USAGE for options that are invalid or contradict each other, BAD_DATA for the policy or an event. */
UPRIGHT_API upright_status upright_reader_new(
  const char *input, const char *options, upright_reader **reader, upright_error *error);

/* Ends the threads of a reader and frees it. A waiting call of another thread returns first, with CANCELLED. */
UPRIGHT_API upright_status upright_reader_free(upright_reader *reader);

/* Waits for the next frame. END: there is none any more.
 * Fails with NO_INPUT or BAD_DATA for an input that can't be read, after the frames before the error. */
UPRIGHT_API upright_status upright_reader_next(
  upright_reader *reader, upright_read_frame *frame, upright_error *error);

/* The planes of a frame. */
typedef struct upright_kept_frame upright_kept_frame;

/* Keeps the planes of the frame that the last upright_reader_next returned valid until upright_kept_frame_free, also
 * after the reader is freed. Fails with INVALID before the first frame. */
UPRIGHT_API upright_status upright_reader_keep(
  upright_reader *reader, upright_kept_frame **kept, upright_error *error);

/* Gives the planes of a frame back. From any thread. */
UPRIGHT_API upright_status upright_kept_frame_free(upright_kept_frame *kept);

/* Goes to another time: the next frame is the one that is shown at `seconds` from the first frame of the input.
 * Fails with USAGE for a time that isn't 0 or more, or is after the requested end. */
UPRIGHT_API upright_status upright_reader_seek(upright_reader *reader, double seconds, upright_error *error);

/* What a user should know of what was read, such as damage: a JSON array of strings, complete at the end. */
UPRIGHT_API upright_status upright_reader_warnings(upright_reader *reader, char **json, upright_error *error);

/* A file as HLS on demand: the playlist is known from its packets alone, and each segment is made when it is asked for, in
 * any order and by any process, with the same bytes. */
typedef struct upright_source upright_source;

/* Reads the packets of a file, and decides the orientation of every frame.
 *
 * input: a path, or a URL of a seekable file. options: NULL, or a JSON object with options of upright_transcode_new that
 * concern the reading, the layout and the encoding of frames, and "policy", "events" and "input-format" as those of
 * upright_reader_new. Without "size", that of the guidance, 720x1280, and no side longer than the file's.
 * Fails with USAGE for options that segments can't have, and for a file that can't be divided; NO_INPUT or BAD_DATA for
 * one that can't be read. */
UPRIGHT_API upright_status upright_source_new(
  const char *input, const char *options, upright_source **source, upright_error *error);

UPRIGHT_API upright_status upright_source_free(upright_source *source);

/* Gives {"playlist": TEXT, "duration": SECONDS, "warnings": [TEXT], "segments": [{"start": SECONDS, "duration": SECONDS,
 * "format": NUMBER, "size": {"width", "height"}, "reason": why its frames are encoded, or null}]}. The media playlist names
 * segment N "N.m4s", and the init segment of format F "init-F.mp4".
 *
 * folder: that of these files, or NULL for that of the playlist. */
UPRIGHT_API upright_status upright_source_description(
  upright_source *source, const char *folder, char **json, upright_error *error);

/* Gives a segment. The bytes are valid until the next call with the source. Waits while it is made; for two at a time make
 * two sources.
 * Fails with USAGE if there is no such segment, BAD_DATA if the file has changed or can't be decoded. */
UPRIGHT_API upright_status upright_source_segment(
  upright_source *source, int64_t index, const uint8_t **bytes, size_t *length, upright_error *error);

/* Gives the init segment of a format, as upright_source_segment. */
UPRIGHT_API upright_status upright_source_init_segment(
  upright_source *source, int64_t format, const uint8_t **bytes, size_t *length, upright_error *error);

/* Gives any file that a playlist names, as upright_source_segment: "index.m3u8" and its segments, "video.m3u8",
 * "audio-0.m3u8", "captions-0.m3u8" and "keyframes.m3u8" with theirs, and "sprites.vtt", the list of small pictures for a seek
 * bar, with its sheets. Fails with USAGE if there is no such file. */
UPRIGHT_API upright_status upright_source_file(
  upright_source *source, const char *name, const uint8_t **bytes, size_t *length, upright_error *error);

/* Gives the multivariant playlist of sources of one file in several sizes, the first one being that whose audio and captions
 * are listed. It is the caller's own.
 *
 * folders: for each source, the folder of its files as the playlist has it. */
UPRIGHT_API upright_status upright_source_multivariant(
  upright_source *const *sources, const char *const *folders, size_t count, char **playlist, upright_error *error);

/* Sets the orientation of a file's frames without decoding them, as `upright tag`.
 *
 * output: a path; NULL changes the input itself. orientation: what turns the stored frames upright, as in EXIF: 1
 * (nothing) to 8. options: NULL, or a JSON object with "sei", "strict", "overwrite", "keep-time", "force" (flags),
 * "record" (a file that takes the old bytes), "input-format", "format". report: the report as JSON, or NULL. */
UPRIGHT_API upright_status upright_tag(
  const char *input, const char *output, int32_t orientation, const char *options, char **report,
  upright_error *error);

/* Lists what of a playlist's text (RFC 8216) breaks a rule, as `upright check --json`: an array of objects with "line",
 * "rule", "clause", "level" ("must" or "should") and "detail". */
UPRIGHT_API upright_status upright_check(const char *playlist, char **json, upright_error *error);

/* Lists every orientation signal in a file or URL, as `upright probe --json` prints it. */
UPRIGHT_API upright_status upright_probe(const char *input, char **json, upright_error *error);

/* ---------------------------------------------------------------------------------------------------------
 * Live sessions (libupright.so): a stream from a network or a file to networks, files and HLS
 * ------------------------------------------------------------------------------------------------------ */

/* A live session. */
typedef struct upright_live upright_live;

/* Starts a session on threads of its own.
 *
 * input: an rtmp, rtsp, srt, udp or http URL; the path of a file, which is read at the speed of its timestamps; or a
 * session description (RFC 8866) of RTP. outputs: one per line: a URL, a folder of HLS ("FOLDER/"), or a file.
 * options: NULL, or a JSON object with the options of `upright relay`, and
 *   "policy": the name of a policy, or a policy document as text or object; "phone" by default
 *   "input-timeout": the session ends after this time without input; 60 seconds by default
 * Fails with USAGE, BAD_DATA for the policy or a description, CANNOT_CREATE for a file that exists or a port in use. */
UPRIGHT_API upright_status upright_live_new(
  const char *input, const char *outputs, const char *options, upright_live **live, upright_error *error);

/* Stops a session, waits until its outputs are closed, for 15 seconds at most, and frees it. */
UPRIGHT_API upright_status upright_live_free(upright_live *live);

/* Posts events, as upright_frames_events. Times are media times of the session. From any thread. */
UPRIGHT_API upright_status upright_live_events(upright_live *live, const char *lines, upright_error *error);

/* Waits up to `timeout` seconds (0: not at all, negative: as long as it takes) for what happens next, an object with
 * "state" ("waiting", "live", "inputLost", "ended", "failed"), "decision", "format", "change", "output", "recording"
 * or "outputRemoved". 1024 are kept. One thread at a time.
 * AGAIN: there is nothing yet. END: the session has ended. Fails with the error that ended it. */
UPRIGHT_API upright_status upright_live_next(
  upright_live *live, double timeout, char **json, upright_error *error);

/* The state, the counters and the outputs of a session, as JSON. From any thread. */
UPRIGHT_API upright_status upright_live_snapshot(upright_live *live, char **json, upright_error *error);

/* Ends the input. Every output is closed so that it is playable. Returns at once. From any thread. */
UPRIGHT_API upright_status upright_live_stop(upright_live *live, upright_error *error);

#ifdef __cplusplus
}
#endif

#endif
