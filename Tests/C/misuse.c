/* Everything that a caller can do wrong and that is detected: each is a status with a message.
 *
 *     misuse INPUT.mp4 SCRATCH
 */
#include <unistd.h>

#include "expect.h"

static upright_frame frame_of(int width, int height, uint8_t *bytes) {
  upright_frame frame = {.size = sizeof frame, .pixels = UPRIGHT_GRAY, .width = width, .height = height};
  frame.time_base = (upright_rational){1, 30};
  frame.planes[0] = bytes;
  frame.strides[0] = width;
  return frame;
}

static void nulls(void) {
  char *json;
  upright_plan *plan;
  upright_frames *frames;
  upright_session *session;
  upright_transcode *transcode;
  upright_reader *reader;
  upright_read_frame read = {.size = sizeof read};
  upright_frame frame = frame_of(16, 16, NULL);
  upright_layout layout = {.size = sizeof layout};
  upright_format format = {.size = sizeof format};
  upright_stream stream = {.size = sizeof stream, .time_base = {1, 30}};
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_new(NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_events(NULL, "", &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_advance(NULL, 0, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_finish(NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_format(NULL, 0, &format, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_take(NULL, &json, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_explain(NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_new(NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_events(NULL, "", &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_device(NULL, 0, UPRIGHT_DEVICE_PORTRAIT, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_gravity(NULL, 0, 0, -1, 0, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_layout(NULL, &frame, &layout, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_draw(NULL, &frame, &frame, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_decisions(NULL, &json, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_new(NULL, NULL, NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_new(&stream, NULL, NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_new(&stream, NULL, NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_events(NULL, "", &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send(NULL, NULL, 0, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_receive(NULL, 0, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_run(NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_request_keyframe(NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_finish(NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_cancel(NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_new(NULL, "b.mp4", NULL, NULL, NULL, &transcode, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_new("a.mp4", NULL, NULL, NULL, NULL, &transcode, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_new("a.mp4", "b.mp4", NULL, NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_run(NULL, NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_plan(NULL, &json, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_stop(NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_cancel(NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_new(NULL, NULL, &reader, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_new("a.mp4", NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_next(NULL, &read, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_seek(NULL, 0, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_keep(NULL, NULL, &error));
  EXPECT(upright_kept_frame_free(NULL) == UPRIGHT_OK);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_warnings(NULL, &json, &error));
  EXPECT(upright_reader_free(NULL) == UPRIGHT_OK);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_source_new("a.mp4", NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_source_description(NULL, NULL, &json, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_source_segment(NULL, 0, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_source_init_segment(NULL, 0, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_source_file(NULL, "index.m3u8", NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_source_multivariant(NULL, NULL, 1, &json, &error));
  EXPECT(upright_source_free(NULL) == UPRIGHT_OK);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_probe(NULL, &json, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_probe("a.mp4", NULL, &error));
  EXPECT(upright_plan_free(NULL) == UPRIGHT_OK && upright_frames_free(NULL) == UPRIGHT_OK);
  EXPECT(upright_session_free(NULL) == UPRIGHT_OK && upright_transcode_free(NULL) == UPRIGHT_OK);
  upright_string_free(NULL);

  EXPECT_STATUS(UPRIGHT_OK, upright_plan_new(NULL, &plan, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_events(plan, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_format(plan, 0, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_take(plan, NULL, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_new(NULL, NULL, &frames, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_layout(frames, NULL, &layout, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_layout(frames, &frame, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_draw(frames, NULL, &frame, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_draw(frames, &frame, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_events(frames, NULL, &error));
  /* Structs that were not prepared, and an error that is not wanted. */
  upright_error small = {.size = 8};
  upright_layout bare = {0};
  upright_format empty = {0};
  EXPECT(upright_plan_events(plan, "{}", &small) == UPRIGHT_INVALID && small.status == 0);
  EXPECT(upright_plan_events(plan, "{}", NULL) == UPRIGHT_BAD_DATA);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_layout(frames, &frame, &bare, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_format(plan, 0, &empty, &error));
  frame.size = sizeof frame - 1;
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_layout(frames, &frame, &layout, &error));
  EXPECT(upright_plan_free(plan) == UPRIGHT_OK && upright_frames_free(frames) == UPRIGHT_OK);
}

static void handles(void) {
  upright_plan *plan, *second;
  upright_frames *frames;
  int number = 0;
  EXPECT_STATUS(UPRIGHT_OK, upright_plan_new("phone", &plan, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_new("phone", NULL, &frames, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_finish((upright_plan *)frames, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_finish((upright_plan *)&number, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_finish((upright_plan *)(uintptr_t)5, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_finish((upright_plan *)~(uintptr_t)10, &error));
  EXPECT(upright_frames_free((upright_frames *)plan) == UPRIGHT_INVALID);
  EXPECT(upright_plan_free(plan) == UPRIGHT_OK);
  EXPECT(upright_plan_free(plan) == UPRIGHT_INVALID);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_finish(plan, &error));
  EXPECT(!strcmp(error.location, "upright_plan"));
  /* The slot is used again, and the old handle is still told. */
  EXPECT_STATUS(UPRIGHT_OK, upright_plan_new("phone", &second, &error));
  EXPECT(second != plan);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_plan_finish(plan, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_plan_finish(second, &error));
  EXPECT(upright_plan_free(second) == UPRIGHT_OK && upright_frames_free(frames) == UPRIGHT_OK);
}

static void texts(void) {
  upright_plan *plan;
  upright_frames *frames;
  char *json;
  EXPECT_STATUS(UPRIGHT_USAGE, upright_plan_new("nothing", &plan, &error));
  EXPECT(!plan && strstr(error.remedy, "phone"));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_plan_new("{\"root\": 1}", &plan, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_plan_new("\xFF\xFE", &plan, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_explain("phone", "{\"at\": 1}", &json, &error));
  EXPECT(!json && !strcmp(error.location, "line 1"));
  /* A message that is too long ends between two characters. */
  char *policy = calloc(1, 4096);
  strcpy(policy, "{\"root\": \"");
  for (int index = 0; index < 1000; index++) strcat(policy + 10 + 2 * index, "\xC3\xA9");
  strcat(policy, "\"}");
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_plan_new(policy, &plan, &error));
  EXPECT(memchr(error.message, 0, sizeof error.message) && memchr(error.remedy, 0, sizeof error.remedy));
  free(policy);

  const char *wrong[] = {"[]", "{", "{\"frame\": \"sensor\"}", "{\"frames\": true}", "{\"frames\": \"round\"}",
    "{\"frames\": \"sensor:45\"}", "{\"size\": \"721x1280\"}", "{\"fit\": \"blur\"}", "{\"canvas\": \"source\"}",
    "{\"background\": \"red\"}", "{\"filter\": \"point\"}", "{\"gravity\": 9.81}", "{\"anchor\": \"here\"}"};
  for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
    EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_new("phone", wrong[index], &frames, &error));
    EXPECT(!frames);
  }
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_new("phone", "{\"Frames\": 1}" + 13, &frames, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_frames_events(frames, "{\"device\": \"sideways\"}", &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_frames_events(frames, "\n{\"lock\": true}\nnonsense", &error));
  EXPECT(!strncmp(error.location, "line 3", 6));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_device(frames, 0, 0, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_device(frames, 0, 7, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_frames_device(frames, INFINITY, UPRIGHT_DEVICE_PORTRAIT, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_gravity(frames, 0, NAN, 0, 0, &error));
  for (int index = 0; index < 10000; index++) upright_frames_device(frames, 5, UPRIGHT_DEVICE_PORTRAIT, NULL);
  EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_device(frames, 5, UPRIGHT_DEVICE_PORTRAIT, &error));
  EXPECT(upright_frames_free(frames) == UPRIGHT_OK);
}

/* Expects that a changed copy of a good frame is refused by `layout`. */
#define REFUSED(change)                                                                   \
  do {                                                                                    \
    upright_frame frame = good;                                                           \
    frame.change;                                                                         \
    EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_layout(frames, &frame, &layout, &error)); \
  } while (0)
/* The same for the source, and for the target, of `draw`. */
#define UNDRAWN(change)                                                              \
  do {                                                                               \
    upright_frame frame = good;                                                      \
    frame.change;                                                                    \
    EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_draw(frames, &frame, &to, &error));  \
    frame = to;                                                                      \
    frame.change;                                                                    \
    EXPECT_STATUS(UPRIGHT_USAGE, upright_frames_draw(frames, &good, &frame, &error)); \
  } while (0)

static void frames_and_planes(void) {
  upright_frames *frames;
  upright_layout layout = {.size = sizeof layout};
  uint8_t *source = calloc(1, 64 * 48), *target = calloc(1, 720 * 1280);
  upright_frame good = frame_of(64, 48, source), to = frame_of(720, 1280, target);
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_new("phone", "{\"frames\": \"sensor\"}", &frames, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_frames_draw(frames, &good, &to, &error));
  REFUSED(pixels = 0);
  REFUSED(pixels = 25);
  REFUSED(pixels = -1);
  REFUSED(width = 0);
  REFUSED(height = -5);
  REFUSED(width = INT32_MAX);
  REFUSED(chroma = 10);
  REFUSED(orientation = 9);
  REFUSED(time_base.denominator = 0);
  REFUSED(sample_aspect_ratio.numerator = -1);
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_layout(frames, &good, &layout, &error));
  EXPECT(layout.changed == 1 && layout.width == 720 && layout.height == 1280);
  UNDRAWN(planes[0] = NULL);
  UNDRAWN(strides[0] = 0);
  UNDRAWN(strides[0] = 47);
  UNDRAWN(strides[0] = -47);
  UNDRAWN(strides[0] = PTRDIFF_MAX);
  UNDRAWN(strides[0] = PTRDIFF_MIN);
  UNDRAWN(width = 62);
  UNDRAWN(height = 1);
  UNDRAWN(pixels = UPRIGHT_RGBA);
  UNDRAWN(pixels = 99);
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_draw(frames, &good, &to, &error));
  /* Times from the past, and far away. The latter are refused, and change nothing. */
  good.pts = INT64_MIN;
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_frames_layout(frames, &good, &layout, &error));
  good.pts = INT64_MAX;
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_frames_layout(frames, &good, &layout, &error));
  good.pts = -1;
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_layout(frames, &good, &layout, &error));
  EXPECT(layout.changed == 0);
  /* From one landscape to the other the app turns, and the frames, but no encoder sees a change. */
  for (int device = UPRIGHT_DEVICE_LANDSCAPE_LEFT; device <= UPRIGHT_DEVICE_LANDSCAPE_RIGHT; device++) {
    EXPECT_STATUS(UPRIGHT_OK, upright_frames_device(frames, NAN, device, &error));
    EXPECT_STATUS(UPRIGHT_OK, upright_frames_layout(frames, &good, &layout, &error));
  }
  EXPECT(layout.changed == 0 && layout.app_orientation == UPRIGHT_INTERFACE_LANDSCAPE_LEFT);
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_device(frames, NAN, UPRIGHT_DEVICE_PORTRAIT, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_layout(frames, &good, &layout, &error));
  EXPECT(layout.changed == 1);
  /* An event that makes no sense is left out. */
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_events(frames, "{\"present\": \"nobody\"}", &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_frames_layout(frames, &good, &layout, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_layout(frames, &good, &layout, &error));
  EXPECT(upright_frames_free(frames) == UPRIGHT_OK);
  free(source);
  free(target);
}

/* A handle that two threads use and a third frees, after they have drawn some frames. */
static _Atomic int drawn;

static void *use_frames(void *context) {
  uint8_t *source = calloc(1, 64 * 48), *target = malloc(720 * 1280);
  upright_frame from = frame_of(64, 48, source), to = frame_of(720, 1280, target);
  upright_layout layout = {.size = sizeof layout};
  for (;;) {
    upright_status status = upright_frames_layout(context, &from, &layout, NULL);
    if (status == UPRIGHT_OK) status = upright_frames_draw(context, &from, &to, NULL);
    if (status == UPRIGHT_OK) drawn++;
    else if (status == UPRIGHT_INVALID) break;
    else if (status != UPRIGHT_BUSY) abort();
    upright_frames_device(context, NAN, UPRIGHT_DEVICE_PORTRAIT, NULL);
  }
  free(source);
  free(target);
  return NULL;
}

static void threads(void) {
  upright_frames *frames;
  pthread_t users[2];
  EXPECT_STATUS(UPRIGHT_OK, upright_frames_new("phone", "{\"frames\": \"sensor\"}", &frames, &error));
  for (int index = 0; index < 2; index++) pthread_create(&users[index], NULL, use_frames, frames);
  while (drawn < 10) usleep(1000);
  EXPECT(upright_frames_free(frames) == UPRIGHT_OK);
  for (int index = 0; index < 2; index++) pthread_join(users[index], NULL);
}

/* A call of a thread, and what it returned. */
typedef struct Call {
  upright_session *session;
  upright_transcode *transcode;
  upright_reader *reader;
  upright_status status;
} Call;

static void *receive(void *context) {
  Call *call = context;
  upright_output output = {.size = sizeof output};
  call->status = upright_session_receive(call->session, -1, &output, NULL);
  return NULL;
}

static int32_t never(void *context, const upright_output *output) {
  (void)context;
  (void)output;
  return 0;
}

/* Calls its own session. */
static int32_t enter_session(void *context, const upright_output *output) {
  upright_session *session = context;
  upright_output other = {.size = sizeof other};
  EXPECT(output->kind == UPRIGHT_OUTPUT_DECISION);
  EXPECT_STATUS(UPRIGHT_BUSY, upright_session_receive(session, 0, &other, &error));
  EXPECT_STATUS(UPRIGHT_BUSY, upright_session_run(session, never, NULL, &error));
  EXPECT(upright_session_free(session) == UPRIGHT_BUSY);
  EXPECT_STATUS(UPRIGHT_OK, upright_session_events(session, "{\"lock\": true}", &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_session_request_keyframe(session, &error));
  return 7;
}

static void sessions(void) {
  upright_session *session;
  upright_output output = {.size = sizeof output}, bare = {0};
  upright_stream video = {.size = sizeof video, .codec = "h264", .time_base = {1, 90000}}, wrong = video;
  uint8_t noise[64] = {0, 0, 1, 0x65, 9};
  upright_packet packet = {.size = sizeof packet, .bytes = noise, .length = sizeof noise, .is_key = 1,
    .time_base = {1, 90000}, .dts = UPRIGHT_NO_TIME}, bad = packet;
  pthread_t thread;
  wrong.codec = "mjpeg";
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_new(&wrong, NULL, NULL, NULL, &session, &error));
  wrong = video;
  wrong.time_base.numerator = 0;
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_new(&wrong, NULL, NULL, NULL, &session, &error));
  wrong = video;
  wrong.extradata_size = 5;
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_new(&wrong, NULL, NULL, NULL, &session, &error));
  wrong.size = 0;
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_new(&wrong, NULL, NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_new(&video, NULL, NULL, "{\"crf\": -1}", &session, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_new(&video, NULL, NULL, "{\"gop\": 9}", &session, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_new(&video, &video, NULL, NULL, &session, &error));

  EXPECT_STATUS(UPRIGHT_OK, upright_session_new(&video, NULL, NULL, NULL, &session, &error));
  EXPECT_STATUS(UPRIGHT_AGAIN, upright_session_receive(session, 0, &output, &error));
  EXPECT_STATUS(UPRIGHT_AGAIN, upright_session_receive(session, 0.01, &output, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_receive(session, NAN, &output, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_receive(session, 0, &bare, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_receive(session, 0, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_run(session, NULL, NULL, &error));
  bad.bytes = NULL;
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send(session, &bad, 0, &error));
  bad = packet;
  bad.length = SIZE_MAX;
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_send(session, &bad, 0, &error));
  bad.length = 0;
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_send(session, &bad, 0, &error));
  bad = packet;
  bad.track = 2;
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_send(session, &bad, 0, &error));
  bad = packet;
  bad.time_base.denominator = -1;
  EXPECT_STATUS(UPRIGHT_USAGE, upright_session_send(session, &bad, 0, &error));
  bad.size = 4;
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send(session, &bad, 0, &error));
  /* Bytes that aren't video, and a call after the end. */
  EXPECT_STATUS(UPRIGHT_OK, upright_session_send(session, &packet, -1, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_session_finish(session, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_session_finish(session, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_session_send(session, &packet, -1, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_session_run(session, never, NULL, &error));
  EXPECT(upright_session_free(session) == UPRIGHT_OK);

  /* A callback that fails, and calls its own session. */
  EXPECT_STATUS(UPRIGHT_OK, upright_session_new(&video, NULL, NULL, NULL, &session, &error));
  EXPECT_STATUS(
    UPRIGHT_OK, upright_session_events(session, "{\"at\": 0, \"device\": \"landscapeLeft\"}", &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_session_finish(session, &error));
  upright_status ended = upright_session_run(session, enter_session, session, &error);
  /* Without a frame there may be no decision to receive. */
  EXPECT(ended == UPRIGHT_CANCELLED || ended == UPRIGHT_OK);
  EXPECT(upright_session_free(session) == UPRIGHT_OK);

  /* A call that waits while another one cancels, or frees. */
  for (int frees = 0; frees < 2; frees++) {
    Call call = {0};
    EXPECT_STATUS(UPRIGHT_OK, upright_session_new(&video, NULL, NULL, NULL, &call.session, &error));
    pthread_create(&thread, NULL, receive, &call);
    usleep(50000);
    EXPECT_STATUS(UPRIGHT_BUSY, upright_session_receive(call.session, 0, &output, &error));
    if (!frees) EXPECT_STATUS(UPRIGHT_OK, upright_session_cancel(call.session, &error));
    EXPECT(upright_session_free(call.session) == UPRIGHT_OK);
    pthread_join(thread, NULL);
    EXPECT(call.status == UPRIGHT_CANCELLED);
  }
}

static int32_t enter_transcode(void *context, const upright_update *update) {
  upright_transcode *transcode = context;
  char *json;
  EXPECT(update->size == sizeof *update);
  EXPECT_STATUS(UPRIGHT_BUSY, upright_transcode_run(transcode, NULL, NULL, NULL, &error));
  EXPECT_STATUS(UPRIGHT_BUSY, upright_transcode_plan(transcode, &json, &error));
  EXPECT(upright_transcode_free(transcode) == UPRIGHT_BUSY);
  return 7;
}

static void *run(void *context) {
  Call *call = context;
  call->status = upright_transcode_run(call->transcode, NULL, NULL, NULL, NULL);
  return NULL;
}

static void files(const char *input, const char *scratch) {
  upright_transcode *transcode;
  char output[1024], *json = &output[0];
  pthread_t thread;
  snprintf(output, sizeof output, "%s/out.mp4", scratch);
  const char *wrong[] = {"{\"crf\": 20, \"bitrate\": \"1M\"}", "{\"threads\": 65}", "{\"chunks\": 0}",
    "{\"overlay\": [\"logo.png\"]}", "{\"strict\": 1}", "{\"to\": \"end\"}", "{\"codec\": \"mpeg2\"}", "{\"x\": 1}",
    "{\"encoder-options\": \"nonsense\"}", "{\"gop\": 1.5}", "{\"capture-size\": \"big\"}"};
  for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++)
    EXPECT_STATUS(
      UPRIGHT_USAGE, upright_transcode_new(input, output, NULL, NULL, wrong[index], &transcode, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_transcode_new(input, "out.txt", NULL, NULL, NULL, &transcode, &error));
  EXPECT_STATUS(
    UPRIGHT_BAD_DATA, upright_transcode_new(input, output, NULL, "{\"at\": -1}", NULL, &transcode, &error));
  EXPECT_STATUS(UPRIGHT_NO_INPUT, upright_probe("missing.mp4", &json, &error));
  EXPECT(!json && error.library_code);

  EXPECT_STATUS(UPRIGHT_OK, upright_transcode_new("missing.mp4", output, NULL, NULL, NULL, &transcode, &error));
  EXPECT_STATUS(UPRIGHT_NO_INPUT, upright_transcode_run(transcode, NULL, NULL, &json, &error));
  EXPECT(!json);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_transcode_run(transcode, NULL, NULL, &json, &error));
  EXPECT(upright_transcode_free(transcode) == UPRIGHT_OK);
  EXPECT(upright_transcode_free(transcode) == UPRIGHT_INVALID);

  /* A callback that fails, and calls its own transcode: no output is left. */
  const char *encoding = "{\"reencode\": \"always\"}";
  EXPECT_STATUS(UPRIGHT_OK, upright_transcode_new(input, output, NULL, NULL, encoding, &transcode, &error));
  EXPECT_STATUS(
    UPRIGHT_CANCELLED, upright_transcode_run(transcode, enter_transcode, transcode, &json, &error));
  EXPECT(strstr(error.message, "7") && !json && access(output, F_OK));
  EXPECT(upright_transcode_free(transcode) == UPRIGHT_OK);

  /* Freed while it runs. */
  Call call = {0};
  EXPECT_STATUS(UPRIGHT_OK, upright_transcode_new(input, output, NULL, NULL, encoding, &call.transcode, &error));
  pthread_create(&thread, NULL, run, &call);
  usleep(20000);
  EXPECT(upright_transcode_free(call.transcode) == UPRIGHT_OK);
  pthread_join(thread, NULL);
  EXPECT(call.status == UPRIGHT_CANCELLED || call.status == UPRIGHT_INVALID);
  EXPECT(access(output, F_OK));
}

static void *next(void *context) {
  Call *call = context;
  upright_read_frame frame = {.size = sizeof frame};
  while ((call->status = upright_reader_next(call->reader, &frame, NULL)) == UPRIGHT_OK) {}
  return NULL;
}

static void readers(const char *input) {
  upright_reader *reader;
  upright_read_frame frame = {.size = sizeof frame}, small = {.size = 8};
  char *json;
  const char *wrong[] = {"{\"pixels\": \"bgr\"}", "{\"canvas\": \"dual\"}", "{\"start\": -1}", "{\"x\": 1}",
    "{\"events\": 1}", "{\"policy\": \"none\"}", "{\"start\": 2, \"to\": 1}", "[]", "{"};
  for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++)
    EXPECT_STATUS(UPRIGHT_USAGE, upright_reader_new(input, wrong[index], &reader, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_reader_new(input, "{\"events\": [{\"at\": -1}]}", &reader, &error));
  EXPECT_STATUS(UPRIGHT_BAD_DATA, upright_reader_new(input, "{\"events\": \"{\"}", &reader, &error));

  EXPECT_STATUS(UPRIGHT_OK, upright_reader_new("missing.mp4", NULL, &reader, &error));
  EXPECT_STATUS(UPRIGHT_NO_INPUT, upright_reader_next(reader, &frame, &error));
  EXPECT_STATUS(UPRIGHT_NO_INPUT, upright_reader_next(reader, &frame, &error));
  EXPECT(upright_reader_free(reader) == UPRIGHT_OK);
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_next(reader, &frame, &error));

  EXPECT_STATUS(UPRIGHT_OK, upright_reader_new(input, "{\"policy\": {}, \"events\": []}", &reader, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_next(reader, NULL, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_next(reader, &small, &error));
  EXPECT_STATUS(UPRIGHT_USAGE, upright_reader_seek(reader, NAN, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_seek(reader, 1, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_next(reader, &frame, &error));
  EXPECT(frame.seconds == 1 && frame.changed && frame.frame.width == 360 && frame.turn == 6);
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_warnings(reader, &json, &error));
  EXPECT(!strcmp(json, "[]\n"));
  upright_string_free(json);
  EXPECT(upright_reader_free(reader) == UPRIGHT_OK);

  /* A frame that is kept outlives the next ones, and the reader; one that was changed changes no other. */
  upright_kept_frame *kept, *again;
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_new(input, "{\"pixels\": \"rgb24\"}", &reader, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_keep(reader, &kept, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_next(reader, &frame, &error));
  EXPECT_STATUS(UPRIGHT_INVALID, upright_reader_keep(reader, NULL, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_keep(reader, &kept, &error));
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_keep(reader, &again, &error));
  const size_t bytes = (size_t)(frame.frame.strides[0] * frame.frame.height);
  EXPECT(frame.writable == 1 && frame.frame.strides[0] == frame.frame.width * 3);
  uint8_t *first = frame.frame.planes[0];
  memset(first, 7, bytes);
  while (upright_reader_next(reader, &frame, &error) == UPRIGHT_OK) EXPECT(frame.frame.planes[0] != first);
  EXPECT(upright_reader_free(reader) == UPRIGHT_OK);
  for (size_t index = 0; index < bytes; index++) EXPECT(first[index] == 7);
  EXPECT(upright_kept_frame_free(kept) == UPRIGHT_OK);
  EXPECT(upright_kept_frame_free(kept) == UPRIGHT_INVALID);
  EXPECT(upright_kept_frame_free(again) == UPRIGHT_OK);

  /* Freed while it waits. */
  Call call = {0};
  pthread_t thread;
  EXPECT_STATUS(UPRIGHT_OK, upright_reader_new(input, NULL, &call.reader, &error));
  pthread_create(&thread, NULL, next, &call);
  usleep(5000);
  EXPECT(upright_reader_free(call.reader) == UPRIGHT_OK);
  pthread_join(thread, NULL);
  EXPECT(call.status == UPRIGHT_CANCELLED || call.status == UPRIGHT_INVALID || call.status == UPRIGHT_END);
}

int main(int count, char **arguments) {
  if (count != 3) return UPRIGHT_USAGE;
  nulls();
  handles();
  texts();
  frames_and_planes();
  threads();
  sessions();
  files(arguments[1], arguments[2]);
  readers(arguments[1]);
  EXPECT(upright_abi_version() == UPRIGHT_ABI_VERSION && !strcmp(upright_status_name(12345), "unknown"));
  if (!failures) puts("clean");
  return failures > 0;
}
