#!/usr/bin/env python3
"""Runs the commands of docs/*.md that are marked for it (Scripts/blocks.py), each document's in one folder with the files that it
names. In a network namespace of its own, so that the ports of the documents are free. Usage: commands.py [DOCUMENT...]
UPRIGHT is the program; upright-serve is beside it."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Scripts"))
import blocks  # noqa: E402

CLIPS = ROOT / "Samples/clips"
URL = "http://127.0.0.1:8080"
TOKEN = "a-token-for-the-commands-of-the-documents"


def enter_namespace():
    spaces = ["unshare", "--net"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
    os.execvpe("unshare", [*spaces, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv],
               {**os.environ, "IN_NAMESPACE": "1"})


def make_files(folder, text):
    """The files that documents name."""
    for name in ("take.mp4", "holiday/beach.mp4"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(CLIPS / "display-matrix.mp4", folder / name)
    (folder / "library").mkdir()
    # The file of the library has an SEI message that contradicts its matrix.
    for name, *options in (["take.mov"], ["one.mov"], ["two.mov"], ["library/phone.mp4", "-bsf:v", "h264_metadata=display_orientation=insert:rotate=180"]):
        subprocess.run(["ffmpeg", "-v", "error", "-i", CLIPS / "display-matrix.mp4", "-c", "copy", *options, folder / name], check=True)
    shutil.copy(CLIPS / "turning-sensor.mp4", folder / "raw.mp4")
    shutil.copy(CLIPS / "turning-sensor.jsonl", folder / "turns.jsonl")
    if "upright check live.m3u8" in text:
        subprocess.run(["ffmpeg", "-v", "error", "-i", folder / "raw.mp4", "-c", "copy", folder / "live.m3u8"], check=True)
    settings = re.search(r"`upright.json`:\n\n```json\n(.*?)^```", text, re.S | re.M)
    if settings:
        (folder / "upright.json").write_text(settings[1])


def shell(commands, folder, **options):
    path = [pathlib.Path(os.environ["UPRIGHT"]).resolve().parent, ROOT / "Samples/check-library", os.environ["PATH"]]
    environment = {**os.environ, "PATH": ":".join(map(str, path)), "UPRIGHT_TOKEN": TOKEN, "TOKEN": TOKEN, "HOME": str(folder)}
    return subprocess.Popen(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            start_new_session=True, **options)


@contextlib.contextmanager
def background(commands, folder, name):
    """Runs commands until the block ends."""
    with (folder / f"{name}.log").open("w") as log:
        process = shell(commands, folder, stdout=log, stderr=log)
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 15)
            process.wait(30)


def await_page(address, process, text=""):
    """Waits until a page has a text."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if text in urllib.request.urlopen(address, timeout=5).read().decode():
                return
        time.sleep(0.2)
    raise RuntimeError(f"{address} didn't come")


def sessions_with_frames():
    """The names of the service's sessions that have had frames, or nothing if no service runs."""
    request = urllib.request.Request(URL + "/v1/sessions", headers={"Authorization": f"Bearer {TOKEN}"})
    with contextlib.suppress(urllib.error.URLError):
        sessions = json.load(urllib.request.urlopen(request, timeout=5))["sessions"]
        return {each["id"] for each in sessions if each["counters"]["framesIn"] > 0}
    return set()


def accepted(commands):
    """The commands, as tests of their own: `upright check` ends with 1 where it found something, as it should in these files."""
    return re.sub(r"^(upright check [^\n#]*?) *(#.*)?$", r"\1 || [ $? = 1 ]", commands, flags=re.M)


def run(path, text):
    """Runs a document's commands. Returns how many blocks there were."""
    count = 0
    with tempfile.TemporaryDirectory(prefix="upright-commands-") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        make_files(folder, text)
        for mark, commands in blocks.blocks(path):
            if mark == "run in the background":
                service = stack.enter_context(background(commands, folder, "service"))
                await_page(URL + "/healthz", service)
            elif mark == "run while a stream is published":
                stack.enter_context(background(
                    "upright serve --config upright.json", folder, "service"))
                publisher = stack.enter_context(background(
                    "sleep 1; ffmpeg -v error -re -stream_loop -1 -i raw.mp4 -c copy -f flv "
                    "'rtmp://127.0.0.1/live/cam?key=at-least-8-characters'", folder, "publisher"))
                await_page(URL + "/live/cam/index.m3u8", publisher, "#EXTINF")
                finish(path, commands, folder)
            elif mark == "run":
                finish(path, commands, folder)
                published = set(re.findall(r"/([\w-]+)\?key=", commands))
                if not published <= sessions_with_frames():
                    sys.exit(f"commands: {path.relative_to(ROOT)}: of {published} only {sessions_with_frames()} arrived")
            else:
                continue
            count += 1
    return count


def finish(path, commands, folder):
    process = shell(accepted(commands), folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output, _ = process.communicate(timeout=300)
    if process.returncode != 0:
        logs = "".join(log.read_text() for log in folder.glob("*.log"))
        sys.exit(f"commands: {path.relative_to(ROOT)}: exit status {process.returncode}\n{commands}\n{output[-3000:]}\n{logs[-2000:]}")


def main():
    if not os.environ.get("IN_NAMESPACE"):
        enter_namespace()
    chosen = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or sorted((ROOT / "docs").glob("*.md"))
    total = 0
    for path in chosen:
        text = path.read_text()
        if path.name == "watch.md":
            # Its streams are those of the page before it.
            text = (ROOT / "docs/publish.md").read_text()
        began = time.monotonic()
        count = run(path, text)
        total += count
        if count:
            print(f"commands: {path.relative_to(ROOT)}: {count} blocks, {time.monotonic() - began:.1f} s", flush=True)
    print(f"commands: {total} blocks ran")


if __name__ == "__main__":
    main()
