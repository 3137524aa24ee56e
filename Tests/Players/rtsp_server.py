#!/usr/bin/env python3
"""Serves an H.264 file with GStreamer's RTSP server, and records what is pushed to it.

    rtsp_server.py CLIP.mp4 PORT [FOLDER]

    rtsp://127.0.0.1:PORT/clip              plays the file
    rtsp://127.0.0.1:PORT/upright/clip      with FOLDER: accepts H.264 and AAC (ANNOUNCE, RECORD), each session as
                                            0.ts and 0.aac, 1.ts ... in FOLDER

Prints "ready" when it listens, and serves until it is killed.
"""

import os
import sys

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer


class Recorder(GstRtspServer.RTSPMediaFactory):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)

    def do_create_element(self, url):
        number = len([name for name in os.listdir(self.folder) if name.endswith(".ts")])
        # Two files: the muxer of a live pipeline drops what is late for the other stream.
        return Gst.parse_launch(
            "( rtph264depay name=depay0 ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=au "
            "    ! mpegtsmux ! filesink sync=false buffer-mode=unbuffered location={0}.ts "
            "  rtpmp4gdepay name=depay1 ! aacparse ! audio/mpeg,stream-format=adts "
            "    ! filesink sync=false buffer-mode=unbuffered location={0}.aac )".format(os.path.join(self.folder, str(number))))


Gst.init(None)
clip, port = sys.argv[1:3]
server = GstRtspServer.RTSPServer.new()
server.set_address("127.0.0.1")
server.set_service(port)
factory = GstRtspServer.RTSPMediaFactory.new()
factory.set_launch('( filesrc location="%s" ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 )' % clip)
server.get_mount_points().add_factory("/clip", factory)
if len(sys.argv) > 3:
    server.get_mount_points().add_factory("/upright/clip", Recorder(sys.argv[3]))
if not server.attach(None):
    sys.exit("port %s is in use" % port)
print("ready", flush=True)
GLib.MainLoop().run()
