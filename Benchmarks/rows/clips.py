"""The clips that are measured with; made once and kept in `.build`."""
import os
import subprocess

from .runs import ROOT, UPRIGHT

FOLDER = os.path.join(ROOT, ".build/bench-clips")
SHARED = os.environ.get("UPRIGHT_SHARED") or os.path.join(ROOT, "../shared")
FOOTAGE = os.path.join(SHARED, "clips/real-footage/foreman.mp4")
# x264 as a phone's encoder would be: a keyframe every two seconds, no scene cuts.
X264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "60", "-sc_threshold", "0",
        "-pix_fmt", "yuv420p", "-an"]


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True)


def made(name, make):
    """The clip of that name; `make` is given where it must be written."""
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        part = os.path.join(FOLDER, "part-" + name)
        make(part)
        os.rename(part, path)
    return path


def pictures(size):
    """Ten seconds to encode: real motion enlarged, with a sensor's grain; where the footage is not there,
    a moving pattern with grain."""
    grain = f"scale={size}:flags=lanczos,noise=alls=5:allf=t"
    if os.path.exists(FOOTAGE):
        return ["-i", FOOTAGE, "-vf", grain]
    return ["-f", "lavfi", "-i", f"testsrc2=size={size}:rate=30:duration=10", "-vf", grain]


def lying():
    """1080p as a sensor gives it: 300 frames, about 8 Mbit/s."""
    return made("lying.mp4", lambda path: ffmpeg(*pictures("1920x1080"), *X264, "-crf", "21", path))


def first(frames):
    """The first frames of it."""
    return made(f"lying-{frames}.mp4", lambda path: ffmpeg(
        "-i", lying(), "-frames:v", str(frames), "-c", "copy", path))


def published():
    """Two seconds of it as a publisher sends them: pictures in decoding order."""
    return made("published.mp4", lambda path: ffmpeg(
        "-i", first(60), "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-crf", "21",
        path))


def looped(name, clip, times):
    return made(name, lambda path: ffmpeg(
        "-stream_loop", str(times - 1), "-i", clip, "-c", "copy", path))


def long(seconds):
    """`lying` over and over."""
    return looped(f"long-{seconds}.mp4", lying(), seconds // 10)


def one_tenth_turned():
    """60 s of 720p; seconds 24 to 30 say by SEI that they must be turned by 90 degrees."""
    straight = made("straight.mp4", lambda path: ffmpeg(
        *pictures("1280x720"), *X264, "-crf", "21", path))

    def make(path):
        # Cut by the muxer, whose cuts stand before a keyframe: no picture is there twice.
        parts = [os.path.join(FOLDER, f"part-{number}.ts") for number in range(3)]
        ffmpeg("-i", looped("straight-60.mp4", straight, 6), "-c", "copy", "-f", "segment",
               "-segment_times", "24,30", "-segment_format", "mpegts",
               os.path.join(FOLDER, "part-%d.ts"))
        turned = os.path.join(FOLDER, "part-turned.ts")
        subprocess.run([UPRIGHT, "tag", parts[1], "-o", turned, "--orientation", "right",
                        "--sei", "-q", "-y"], check=True)
        ffmpeg("-i", "concat:" + "|".join([parts[0], turned, parts[2]]), "-c", "copy", path)
        for part in [*parts, turned]:
            os.remove(part)
    return made("one-tenth-turned.mp4", make)


def two_hours():
    """216 000 small frames, with the index of a long clip."""
    small = made("small.mp4", lambda path: ffmpeg(*pictures("320x180"), *X264, "-crf", "35", path))
    return looped("two-hours.mp4", small, 720)
