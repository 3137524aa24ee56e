#!/usr/bin/env python3
"""Serves an H.264 file with GStreamer's RTSP server, for a test that pulls from it.

    rtsp_server.py CLIP.mp4 PORT        rtsp://127.0.0.1:PORT/clip

Prints "ready" when it listens, and serves until it is killed.
"""

import sys

import gi
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer

clip, port = sys.argv[1:]
Gst.init(None)
server = GstRtspServer.RTSPServer.new()
server.set_address("127.0.0.1")
server.set_service(port)
factory = GstRtspServer.RTSPMediaFactory.new()
factory.set_launch('( filesrc location="%s" ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 )' % clip)
server.get_mount_points().add_factory("/clip", factory)
if not server.attach(None):
    sys.exit("port %s is in use" % port)
print("ready", flush=True)
GLib.MainLoop().run()
