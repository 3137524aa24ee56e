"""The clips of the benchmarks, made once and kept in `.build`."""
import os
import subprocess

from .runs import ROOT, UPRIGHT

FOLDER = os.path.join(ROOT, ".build/bench-clips")
SHARED = os.environ.get("UPRIGHT_SHARED") or os.path.join(ROOT, "../shared")
FOOTAGE = os.path.join(SHARED, "clips/real-footage/foreman.mp4")
# x264 with the settings of a phone's encoder: a keyframe every two seconds, no scene cuts.
X264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "60", "-sc_threshold", "0",
        "-pix_fmt", "yuv420p", "-an"]


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments], check=True)


def made(name, make):
    """Returns the path of the clip `name`. `make` receives the path to write to."""
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        part = os.path.join(FOLDER, "part-" + name)
        make(part)
        os.rename(part, path)
    return path


def video(size):
    """Returns ffmpeg's input options: enlarged real footage with sensor noise; if it is missing, a moving pattern
    with noise."""
    grain = f"scale={size}:flags=lanczos,noise=alls=5:allf=t"
    if os.path.exists(FOOTAGE):
        return ["-i", FOOTAGE, "-vf", grain]
    return ["-f", "lavfi", "-i", f"testsrc2=size={size}:rate=30:duration=10", "-vf", grain]


def lying():
    """Returns 1080p sensor frames: 300 frames, about 8 Mbit/s."""
    return made("lying.mp4", lambda path: ffmpeg(*video("1920x1080"), *X264, "-crf", "21", path))


def first(frames):
    """Returns a clip of its first frames."""
    return made(f"lying-{frames}.mp4", lambda path: ffmpeg(
        "-i", lying(), "-frames:v", str(frames), "-c", "copy", path))


def published():
    """Returns two seconds of it as a publisher sends them: frames in decoding order."""
    return made("published.mp4", lambda path: ffmpeg(
        "-i", first(60), "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-crf", "21",
        path))


def looped(name, clip, times):
    return made(name, lambda path: ffmpeg(
        "-stream_loop", str(times - 1), "-i", clip, "-c", "copy", path))


def long(seconds):
    """Returns `lying`, repeated."""
    return looped(f"long-{seconds}.mp4", lying(), seconds // 10)


def one_tenth_turned():
    """Returns 60 s of 720p. By SEI, seconds 24 to 30 must be turned by 90 degrees."""
    straight = made("straight.mp4", lambda path: ffmpeg(
        *video("1280x720"), *X264, "-crf", "21", path))

    def make(path):
        # Cut by the muxer, which cuts before keyframes, so that no frame is repeated.
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
    """Returns 216 000 small frames, with the index of a long clip."""
    small = made("small.mp4", lambda path: ffmpeg(*video("320x180"), *X264, "-crf", "35", path))
    return looped("two-hours.mp4", small, 720)
