#!/usr/bin/env python3
"""Decodes a file or URL with GStreamer and reports the result.

    gst_play.py FILE_OR_URL [--timeout S] [--audio] [--decodebin3]

Prints one JSON object. Times are GStreamer's stream time in seconds (a buffer's PTS with the edit list applied):
    ended, error      whether the end of the stream was reached without an error; the first error, or null
    sizes             [{"at", "width", "height"}]: the first frame's size, then each change
    frames            the number of decoded video frames
    times             the times of the first and the last frame
    backwards         the number of frames whose time isn't after that of the frame before
    audio             {"buffers", "samples", "rate", "channels", "times", "backwards"}, with --audio
    errors, warnings  GStreamer's messages
    version           GStreamer's version

Frames are as they are coded: GStreamer's decoders don't turn them (videoflip does), so a display matrix is ignored.
An .m3u8 file is served on loopback, because hlsdemux needs HTTP.

Frames are pulled from an appsink with ctypes. Reading the output of gst-launch-1.0 -v is easier, but loses lines.

Exit code: 0 played to the end, 1 not, 77 GStreamer is missing.
"""

import argparse
import ctypes
import functools
import http.server
import json
import os
import pathlib
import sys
import threading
import time
import urllib.parse
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

PLAYED, FAILED, MISSING = 0, 1, 77
NULL, PLAYING = 1, 4  # GstState
TIME = 3  # GST_FORMAT_TIME
ERROR, WARNING = 2, 4  # GstMessageType
NONE = 2**64 - 1  # GST_CLOCK_TIME_NONE
STEP = 100_000_000  # the timeout for pulling a frame, in ns


class MiniObject(ctypes.Structure):
    _fields_ = [("type", c_size_t), ("refcount", c_int), ("lockstate", c_int), ("flags", c_uint), ("copy", c_void_p),
                ("dispose", c_void_p), ("free", c_void_p), ("priv_uint", c_uint), ("priv_pointer", c_void_p)]


class Buffer(ctypes.Structure):
    _fields_ = [("mini", MiniObject), ("pool", c_void_p), ("pts", c_uint64), ("dts", c_uint64), ("duration", c_uint64)]


class Message(ctypes.Structure):
    _fields_ = [("mini", MiniObject), ("type", c_uint)]


class GError(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_uint32), ("code", c_int), ("message", c_char_p)]


def load():
    """Returns the functions used, as attributes. Raises OSError if GStreamer isn't installed."""
    core, app, glib = map(ctypes.CDLL, ("libgstreamer-1.0.so.0", "libgstapp-1.0.so.0", "libglib-2.0.so.0"))
    p = c_void_p
    functions = {
        core: {
            "gst_init": (None, [p, p]),
            "gst_version_string": (c_char_p, []),
            "gst_parse_launch": (p, [c_char_p, POINTER(POINTER(GError))]),
            "gst_bin_get_by_name": (p, [p, c_char_p]),
            "gst_util_set_object_arg": (None, [p, c_char_p, c_char_p]),
            "gst_element_set_state": (c_int, [p, c_int]),
            "gst_element_get_bus": (p, [p]),
            "gst_bus_timed_pop_filtered": (POINTER(Message), [p, c_uint64, c_uint]),
            "gst_message_parse_error": (None, [p, POINTER(POINTER(GError)), p]),
            "gst_message_parse_warning": (None, [p, POINTER(POINTER(GError)), p]),
            "gst_sample_get_buffer": (POINTER(Buffer), [p]),
            "gst_sample_get_caps": (p, [p]),
            "gst_sample_get_segment": (p, [p]),
            "gst_caps_get_structure": (p, [p, c_uint]),
            "gst_structure_get_int": (c_int, [p, c_char_p, POINTER(c_int)]),
            "gst_segment_to_stream_time": (c_uint64, [p, c_int, c_uint64]),
            "gst_buffer_get_size": (c_size_t, [p]),
            "gst_mini_object_unref": (None, [p]),
            "gst_object_unref": (None, [p]),
        },
        app: {
            "gst_app_sink_try_pull_sample": (p, [p, c_uint64]),
            "gst_app_sink_is_eos": (c_int, [p]),
        },
        glib: {"g_error_free": (None, [POINTER(GError)])},
    }
    calls = argparse.Namespace()
    for library, names in functions.items():
        for name, (result, arguments) in names.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            setattr(calls, name, function)
    calls.gst_init(None, None)
    return calls


class Track:
    """The samples received by one sink."""

    def __init__(self, gst, sink):
        self.gst, self.sink = gst, sink
        self.count, self.times, self.backwards, self.sizes = 0, [], 0, []
        self.rate = self.channels = None
        self.samples, self.ended = 0, False

    def pull(self):
        """Receives the next sample. Returns False if none arrived in time."""
        sample = self.gst.gst_app_sink_try_pull_sample(self.sink, STEP)
        if not sample:
            self.ended = bool(self.gst.gst_app_sink_is_eos(self.sink))
            return False
        try:
            self.take(sample)
        finally:
            self.gst.gst_mini_object_unref(sample)
        return True

    def take(self, sample):
        gst = self.gst
        buffer = gst.gst_sample_get_buffer(sample)
        structure = gst.gst_caps_get_structure(gst.gst_sample_get_caps(sample), 0)
        at = self.stream_time(sample, buffer.contents.pts)
        self.count += 1
        if at is not None:
            self.backwards += bool(self.times and at <= self.times[1])
            self.times = [self.times[0] if self.times else at, at]
        width, height = self.field(structure, b"width"), self.field(structure, b"height")
        if width:
            last = self.sizes[-1] if self.sizes else {}
            if (width, height) != (last.get("width"), last.get("height")):
                self.sizes.append({"at": at, "width": width, "height": height})
        else:
            self.rate, self.channels = self.field(structure, b"rate"), self.field(structure, b"channels")
            self.samples += gst.gst_buffer_get_size(buffer) // (4 * (self.channels or 1))  # the format is F32LE

    def stream_time(self, sample, pts):
        if pts == NONE:
            return None
        at = self.gst.gst_segment_to_stream_time(self.gst.gst_sample_get_segment(sample), TIME, pts)
        return round((pts if at == NONE else at) / 1e9, 6)

    def field(self, structure, name):
        value = c_int()
        return value.value if self.gst.gst_structure_get_int(structure, name, byref(value)) else None


class Player:
    """A pipeline from a URI to an appsink for the video and, if requested, one for the audio."""

    def __init__(self, gst, uri, audio, decodebin3):
        self.gst = gst
        self.errors, self.warnings, self.error = [], [], None
        description = "uridecodebin%s name=source source. ! queue ! video/x-raw ! appsink name=picture %s" % (
            "3" if decodebin3 else "", "sync=false async=false max-buffers=8")
        if audio:
            description += (" source. ! queue ! audioconvert ! audio/x-raw,format=F32LE,layout=interleaved"
                            " ! appsink name=audio sync=false async=false max-buffers=8")
        failure = POINTER(GError)()
        self.pipeline = gst.gst_parse_launch(description.encode(), byref(failure))
        if failure:
            raise RuntimeError(failure.contents.message.decode(errors="replace"))
        source = gst.gst_bin_get_by_name(self.pipeline, b"source")
        gst.gst_util_set_object_arg(source, b"uri", uri.encode())
        gst.gst_object_unref(source)
        self.bus = gst.gst_element_get_bus(self.pipeline)
        self.picture = Track(gst, gst.gst_bin_get_by_name(self.pipeline, b"picture"))
        self.audio = Track(gst, gst.gst_bin_get_by_name(self.pipeline, b"audio")) if audio else None

    def listen(self):
        """Reads the messages on the bus. Returns True after an error."""
        gst = self.gst
        while message := gst.gst_bus_timed_pop_filtered(self.bus, 0, ERROR | WARNING):
            failure, bad = POINTER(GError)(), message.contents.type == ERROR
            parse = gst.gst_message_parse_error if bad else gst.gst_message_parse_warning
            parse(message, byref(failure), None)
            (self.errors if bad else self.warnings).append(failure.contents.message.decode(errors="replace"))
            gst.g_error_free(failure)
            gst.gst_mini_object_unref(message)
        return bool(self.errors)

    def play(self, timeout):
        end = time.monotonic() + timeout
        stopped = threading.Event()

        def hear():
            while not self.audio.ended and not stopped.is_set():
                self.audio.pull()

        listener = threading.Thread(target=hear, daemon=True)
        self.gst.gst_element_set_state(self.pipeline, PLAYING)
        if self.audio:
            listener.start()
        while not self.picture.ended and not self.listen() and time.monotonic() < end:
            self.picture.pull()
        if self.audio:  # a sink without a linked track never ends
            listener.join(max(0.0, min(end - time.monotonic(), 10 if self.audio.count else 2)))
            stopped.set()
            listener.join()
        self.listen()
        if self.errors:
            self.error = self.errors[0]
        elif time.monotonic() >= end:
            self.error = "timeout after %g s" % timeout
        elif not self.picture.count:
            self.error = "no video"
        elif self.audio and not self.audio.count:
            self.error = "no audio"

    def result(self):
        result = {"ended": self.picture.ended, "error": self.error, "sizes": self.picture.sizes,
                  "frames": self.picture.count, "times": self.picture.times, "backwards": self.picture.backwards,
                  "errors": self.errors, "warnings": self.warnings, "version": self.gst.gst_version_string().decode()}
        if track := self.audio:
            result["audio"] = {"buffers": track.count, "samples": track.samples, "rate": track.rate,
                               "channels": track.channels, "times": track.times, "backwards": track.backwards}
        return result


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def serve(path):
    """Serves the playlist's folder on loopback for the life of this process. Returns the playlist's URL."""
    handler = functools.partial(Quiet, directory=path.parent)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1"
    return "http://127.0.0.1:%d/%s" % (server.server_address[1], urllib.parse.quote(path.name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("input", metavar="FILE_OR_URL")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="give up after S seconds (60)")
    parser.add_argument("--audio", action="store_true", help="decode the audio too (the input must have some)")
    parser.add_argument("--decodebin3", action="store_true", help="use uridecodebin3, with hlsdemux2, instead of uridecodebin")
    options = parser.parse_args()

    def leave(result, code):
        # Skips the teardown of Python and GStreamer, so that a pipeline that hangs doesn't block the test.
        print(json.dumps(result), flush=True)
        os._exit(code)

    uri = options.input
    if "://" not in uri:
        path = pathlib.Path(uri).resolve()
        if not path.is_file():
            leave({"ended": False, "error": "no such file: " + uri}, FAILED)
        uri = serve(path) if path.suffix == ".m3u8" else path.as_uri()
    try:
        gst = load()
    except (OSError, AttributeError) as error:
        leave({"ended": False, "error": "GStreamer is missing: %s" % error}, MISSING)
    try:
        player = Player(gst, uri, options.audio, options.decodebin3)
    except RuntimeError as error:
        leave({"ended": False, "error": "GStreamer lacks an element: %s" % error}, MISSING)

    # Setting the state or pulling a frame may hang too.
    watchdog = threading.Timer(options.timeout + 5, leave, ({"ended": False, "error": "GStreamer hangs"}, FAILED))
    watchdog.daemon = True
    watchdog.start()
    player.play(options.timeout)
    watchdog.cancel()
    result = player.result()
    leave(result, PLAYED if result["ended"] and not result["error"] else FAILED)


if __name__ == "__main__":
    main()
