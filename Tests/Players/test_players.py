#!/usr/bin/env python3
"""Tests the players of this folder, and the sample files.

    python3 Tests/Players/test_players.py

Creates its inputs from turning-sensor.mp4 with FFmpeg: upright parts of 720x1280, 1280x720 and 720x1280, joined with
continuous timestamps and parameter sets in band. Takes about a minute. Players that aren't installed are skipped.
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import screen_play

HERE = pathlib.Path(__file__).resolve().parent
CLIPS = HERE.parent.parent / "Samples" / "clips"
WIDE, TALL = (1280, 720), (720, 1280)
SEGMENT_SECONDS = 5 / 3


def play(script, *arguments, code=0):
    """Returns the output of the player. Fails if the exit code isn't the expected one, and skips if it is 77."""
    run = subprocess.run([sys.executable, HERE / script, *map(str, arguments)], stdout=subprocess.PIPE, timeout=120)
    result = json.loads(run.stdout)
    if run.returncode == 77 and code != 77:
        raise unittest.SkipTest(result["error"])
    if run.returncode != code:
        raise AssertionError("%s ended with %d: %s" % (script, run.returncode, run.stdout.decode()[:2000]))
    return result


def sizes(result):
    return [(change["width"], change["height"]) for change in result["sizes"]]


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)], check=True)


def boxes(data):
    at = 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at:at + size]
        at += size


def make(folder):
    """Writes turn.ts, turn.mp4 (one track, parameter sets in band) and turn.m3u8 (fMP4, an init segment for each
    format), each with all 300 frames."""
    playlist = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-PLAYLIST-TYPE:VOD"]
    joined, segments = b"", 0
    for part, turn in enumerate(("transpose=clock", "null", "transpose=clock")):
        first, last = 100 * part, 100 * part + 100
        graph = "trim=start_frame=%d:end_frame=%d,%s" % (first, last, turn)
        common = ("-copyts", "-i", CLIPS / "turning-sensor.mp4", "-vf", graph, "-c:v", "libx264", "-preset", "veryfast",
                  "-bf", 2, "-x264-params", "repeat-headers=1:keyint=50:min-keyint=50:scenecut=0", "-avoid_negative_ts", 0)
        stream, file = folder / ("%d.ts" % part), folder / ("%d.mp4" % part)
        ffmpeg(*common, "-f", "mpegts", stream)
        ffmpeg(*common, "-flags", "+global_header", "-use_editlist", 0, "-output_ts_offset", 1,
               "-movflags", "+frag_keyframe+empty_moov+default_base_moof+frag_discont", file)
        joined += stream.read_bytes()
        init = b""
        media = []
        for kind, box in boxes(file.read_bytes()):
            if kind in (b"ftyp", b"moov"):
                init += box
            elif kind == b"moof":
                media.append(box)
            elif kind == b"mdat":
                media[-1] += box
        (folder / ("turn-init-%d.mp4" % part)).write_bytes(init)
        playlist += ["#EXT-X-DISCONTINUITY"] if part else []
        playlist += ['#EXT-X-MAP:URI="turn-init-%d.mp4"' % part]
        for segment in media:
            (folder / ("turn-%d.m4s" % segments)).write_bytes(segment)
            playlist += ["#EXTINF:%f," % SEGMENT_SECONDS, "turn-%d.m4s" % segments]
            segments += 1
    (folder / "turn.m3u8").write_text("\n".join(playlist + ["#EXT-X-ENDLIST", ""]))
    (folder / "turn.ts").write_bytes(joined)
    ffmpeg("-i", folder / "turn.ts", "-c", "copy", folder / "turn.mp4")


class Players(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("ffmpeg"):
            raise unittest.SkipTest("ffmpeg is missing")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        make(cls.folder)

    def check_turns(self, result, first):
        self.assertEqual(sizes(result), [TALL, WIDE, TALL])
        for change, offset in zip(result["sizes"], (0, 10 / 3, 20 / 3)):
            self.assertAlmostEqual(change["at"], first + offset, places=3)

    def test_ffmpeg_reads_every_number_across_the_turns(self):
        for name in ("turn.ts", "turn.mp4", "turn.m3u8"):
            with self.subTest(name):
                result = play("ffmpeg_play.py", self.folder / name)
                self.assertEqual(result["numbers"], list(range(300)))
                self.assertEqual((result["lost"], result["repeated"], result["unordered"]), ([], [], 0))
                self.assertEqual([change["orientation"] for change in result["lies"]], [1])
                self.check_turns(result, result["times"][0])

    def test_ffmpeg_tells_the_eight_orientations_apart(self):
        truth = self.folder / "truth.mp4"
        ffmpeg("-i", self.folder / "0.ts", "-frames:v", 5, "-c:v", "libx264", truth)
        filters = {1: "null", 2: "hflip", 3: "hflip,vflip", 4: "vflip", 5: "transpose=cclock_flip", 6: "transpose=cclock",
                   7: "transpose=clock_flip", 8: "transpose=clock"}
        for orientation, graph in filters.items():
            with self.subTest(orientation):
                file = self.folder / "turned.mp4"
                ffmpeg("-i", truth, "-vf", graph + ",scale=640:640:force_original_aspect_ratio=decrease", file)
                result = play("ffmpeg_play.py", file)
                self.assertEqual([change["orientation"] for change in result["lies"]], [orientation])
                self.assertEqual(result["numbers"], list(range(5)))

    def test_ffmpeg_reads_letterboxed_filled_and_small_pictures(self):
        for graph in ("scale=404:720,pad=1280:720:-1:-1", "scale=202:360,pad=640:360:-1:-1", "scale=180:320",
                      "scale=1280:-2,crop=1280:720"):
            with self.subTest(graph):
                file = self.folder / "placed.mp4"
                ffmpeg("-i", self.folder / "0.ts", "-vf", graph, "-crf", 28, file)
                self.assertEqual(play("ffmpeg_play.py", file)["numbers"], list(range(100)))

    def test_ffmpeg_notices_lost_and_repeated_frames(self):
        file = self.folder / "lossy.mp4"
        ffmpeg("-i", self.folder / "0.ts", "-vf", "select='not(between(n,10,12))',loop=loop=1:size=1:start=50,setpts=N/30/TB",
               file)
        result = play("ffmpeg_play.py", file)
        self.assertEqual((result["lost"], result["repeated"]), ([10, 11, 12], [52]))

    def test_gstreamer_follows_the_turns(self):
        for name, options in (("turn.ts", ()), ("turn.mp4", ()), ("turn.m3u8", ()), ("turn.m3u8", ("--decodebin3",))):
            with self.subTest(name, options=options):
                result = play("gst_play.py", self.folder / name, *options)
                self.assertEqual((result["frames"], result["backwards"]), (300, 0))
                self.check_turns(result, result["times"][0])

    def test_gstreamer_hears_the_audio(self):
        result = play("gst_play.py", CLIPS / "with-sound.mp4", "--audio")
        self.assertEqual(result["frames"], 150)
        audio = result["audio"]
        self.assertEqual((audio["rate"], audio["channels"], audio["backwards"]), (48000, 2, 0))
        self.assertAlmostEqual(audio["samples"] / audio["rate"], 5, delta=0.03)

    def test_gstreamer_says_what_is_wrong(self):
        self.assertEqual(play("gst_play.py", CLIPS / "display-matrix.mp4", "--audio", code=1)["error"], "no audio")
        self.assertTrue(play("gst_play.py", __file__, code=1)["error"])
        self.assertIn("no such file", play("gst_play.py", self.folder / "none.mp4", code=1)["error"])

    def test_chromium_follows_the_turns(self):
        for name in ("turn.mp4", "turn.m3u8"):
            with self.subTest(name):
                result = play("chromium_play.py", self.folder, name)
                self.assertEqual((result["ended"], result["totalVideoFrames"]), (True, 300))
                self.assertEqual(sizes(result), [TALL, WIDE, TALL])
                # On a busy machine a frame may not be presented, so that the next one is the first that is reported.
                for change, at in zip(result["sizes"][1:], (10 / 3, 20 / 3)):
                    self.assertAlmostEqual(change["at"], at, delta=0.15)

    def test_chromium_snapshots_show_the_frame_asked_for(self):
        out = self.folder / "out"
        result = play("chromium_play.py", self.folder, "turn.m3u8", "--rate", 4, "--snapshot", "1.01,5.01", "--out", out)
        for shot, number, size in zip(result["snapshots"], (30, 150), (TALL, WIDE), strict=True):
            self.assertEqual((shot["width"], shot["height"]), size)
            read = play("ffmpeg_play.py", shot["file"])
            self.assertEqual((read["numbers"], read["lies"][0]["orientation"]), ([number], 1))

    def test_chromium_honours_the_display_matrix(self):
        result = play("chromium_play.py", CLIPS, "display-matrix.mp4")
        self.assertEqual(sizes(result), [(360, 640)])
        self.assertEqual([(s["width"], s["height"]) for s in result["storedSizes"]], [(640, 360)])

    def test_chromium_stops_and_fails_as_it_should(self):
        until = play("chromium_play.py", CLIPS, "with-sound.mp4", "--until", 1)
        self.assertLess(until["mediaTimes"][1], 3)
        self.assertIn("timeout", play("chromium_play.py", CLIPS, "with-sound.mp4", "--timeout", 2, code=1)["error"])
        self.assertIn("media error", play("chromium_play.py", self.folder, "turn.ts", code=1)["error"])


class Screens(unittest.TestCase):
    # A picture each 1/30 s, from frame 0 on. At frame 60 the shape changes.
    SHOWN = [(100 + index / 30, (index, "wide" if index >= 60 else "tall")) for index in range(150)]

    def test_a_turn_without_loss(self):
        result = screen_play.summary(self.SHOWN)
        self.assertEqual((result["numbers"], result["unread"]), (list(range(150)), 0))
        self.assertEqual([(turn["number"], turn["shape"]) for turn in result["turns"]], [(0, "tall"), (60, "wide")])
        self.assertEqual((result["turns"][1]["at"], result["turns"][1]["still"], result["turns"][1]["later"]), (2, 0.033, 0))

    def test_pictures_that_are_left_out_and_a_picture_that_stands_at_a_turn(self):
        lost = [(time, (number + 24 * (number >= 60), shape)) for time, (number, shape) in self.SHOWN]
        self.assertAlmostEqual(screen_play.summary(lost)["turns"][1]["later"], -0.8, places=3)
        stands = [(time, None if 50 < number < 65 else (number, shape)) for time, (number, shape) in self.SHOWN]
        result = screen_play.summary(stands)
        self.assertEqual((result["longest"], result["unread"], result["turns"][1]["later"]), (0.5, 14, 0))
        black = [(time, () if 50 < number < 60 else (number, shape)) for time, (number, shape) in self.SHOWN]
        result = screen_play.summary(black)
        self.assertEqual((result["unread"], result["black"], len(result["turns"])), (0, 9, 2))

    def test_where_seeks_lead(self):
        jumps = [(time, (number if time < 102 else number + 300, shape)) for time, (number, shape) in self.SHOWN]
        seeks = screen_play.summary(jumps, [(101.9, 12.0), (103.9, 1.0)])["seeks"]
        self.assertEqual(seeks, [{"asked": 12.0, "off": 0, "after": 0.1}, {"asked": 1.0, "off": None, "after": None}])


class Samples(unittest.TestCase):
    def test_turning_sensor_turns_at_frames_100_and_200(self):
        result = play("ffmpeg_play.py", CLIPS / "turning-sensor.mp4")
        self.assertEqual(result["numbers"], list(range(300)))
        self.assertEqual(sizes(result), [WIDE])
        self.assertEqual([(c["frame"], c["orientation"]) for c in result["lies"]], [(0, 6), (100, 1), (200, 6)])
        events = [json.loads(line) for line in (CLIPS / "turning-sensor.jsonl").read_text().splitlines()]
        frames = [next(i for i, at in enumerate(result["times"]) if at >= event["at"] - 0.001) for event in events]
        self.assertEqual(frames, [0, 100, 200])
        self.assertEqual([event["device"] for event in events], ["portrait", "landscapeLeft", "portrait"])

    def test_matrix_clips_stand_upright_when_it_is_honoured(self):
        for name, frames, stored, size in (("display-matrix.mp4", 60, 6, (360, 640)), ("with-sound.mp4", 150, 3, (640, 360))):
            with self.subTest(name):
                shown, coded = play("ffmpeg_play.py", CLIPS / name), play("ffmpeg_play.py", CLIPS / name, "--stored")
                self.assertEqual((shown["numbers"], sizes(shown)), (list(range(frames)), [size]))
                self.assertEqual([c["orientation"] for c in shown["lies"]], [1])
                self.assertEqual(([c["orientation"] for c in coded["lies"]], sizes(coded)), ([stored], [(640, 360)]))

    def test_every_clip_is_small(self):
        for clip in CLIPS.iterdir():
            self.assertLess(clip.stat().st_size, 500_000, clip.name)


if __name__ == "__main__":
    unittest.main()
