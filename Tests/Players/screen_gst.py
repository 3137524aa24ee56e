#!/usr/bin/env python3
"""Plays a URI with GStreamer's playbin or playbin3 in a window. Each line on standard input is a time to seek to, in seconds.

    screen_gst.py playbin|playbin3 URI [START]

Ends at the end of the stream, or with 1 at an error, which it prints.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402


def main():
    Gst.init(None)
    kind, uri = sys.argv[1:3]
    player = Gst.ElementFactory.make(kind)
    player.set_property("uri", uri)
    player.set_property("video-sink", Gst.ElementFactory.make("ximagesink"))
    silent = Gst.ElementFactory.make("fakesink")
    silent.set_property("sync", True)
    player.set_property("audio-sink", silent)
    loop, failed = GLib.MainLoop(), []

    def seek(seconds):
        player.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, int(float(seconds) * Gst.SECOND))

    def hear(_, message):
        if message.type == Gst.MessageType.ERROR:
            print(message.parse_error()[0].message, flush=True)
            failed.append(True)
        if message.type in (Gst.MessageType.ERROR, Gst.MessageType.EOS):
            loop.quit()
        elif message.type == Gst.MessageType.BUFFERING:
            player.set_state(Gst.State.PLAYING if message.parse_buffering() == 100 else Gst.State.PAUSED)

    def read(*_):
        line = sys.stdin.readline()
        if line:
            seek(line)
        return bool(line)

    bus = player.get_bus()
    bus.add_signal_watch()
    bus.connect("message", hear)
    GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, read)
    if len(sys.argv) > 3:
        player.set_state(Gst.State.PAUSED)
        player.get_state(10 * Gst.SECOND)
        seek(sys.argv[3])
    player.set_state(Gst.State.PLAYING)
    loop.run()
    player.set_state(Gst.State.NULL)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
