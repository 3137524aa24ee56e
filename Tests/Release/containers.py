#!/usr/bin/env python3
"""Runs the images of a release by the files in Packaging/containers, with runc in the place of a container engine.

    containers.py ARTIFACTS

Looks through each image first: nothing sets a user or a group, there are no packages' caches, no package manager and no
shell's history. Then, each as the image says (user, command, environment) on a read-only root without capabilities:

- `upright` turns a clip.
- The services of compose.yaml run as it says. ffmpeg publishes by RTMP, Chromium by WHIP through the Janus of its image, and both
  are played through nginx, which is this system's with nginx.conf: its image isn't part of the release.

They have a network of their own, so nothing on this machine is in their way. Needs root, and skopeo, umoci, runc, nginx, ffmpeg,
python3-yaml, Chromium and Playwright. Prints a line for each step with its seconds. Exit code: 0 right, 1 not.
"""

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
CONTAINERS = ROOT / "Packaging/containers"
TOKEN = "0123456789abcdef0123456789abcdef"
sys.path.insert(0, str(ROOT / "Tests/Players"))
FORBIDDEN = re.compile(r"(^|/)\.[a-z]*history$|^var/cache/.+/.+|^var/lib/apt/lists/.+|s?bin/(apt|apt-get|dpkg)$|^var/log/.+\.log$")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True, **options).stdout


def wait(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(urllib.error.URLError, subprocess.CalledProcessError, ConnectionError, KeyError):
            if result := condition():
                return result
        if time.monotonic() > end:
            raise SystemExit(f"containers: {what}: not after {seconds} s")
        time.sleep(0.2)


class Image:
    """One archive, unpacked by skopeo and umoci."""

    def __init__(self, archive, folder):
        self.name = archive.name.split("-image-")[1].rsplit("-", 1)[0]
        layout, self.bundle = folder / f"{self.name}.oci", folder / self.name
        run("skopeo", "--insecure-policy", "copy", f"oci-archive:{archive}", f"oci:{layout}:image")
        run("umoci", "unpack", "--image", f"{layout}:image", self.bundle)
        self.root, self.configuration = self.bundle / "rootfs", json.loads((self.bundle / "config.json").read_text())
        health = json.loads(run("skopeo", "inspect", "--config", "--raw", f"oci:{layout}:image"))["config"].get("Healthcheck")
        self.health = health and health["Test"][1:]
        self.bytes = archive.stat().st_size

    def look_through(self):
        bad = []
        for path in self.root.rglob("*"):
            name = str(path.relative_to(self.root))
            if FORBIDDEN.search(name) and not path.is_symlink():
                bad.append(name)
            if not path.is_symlink() and path.lstat().st_mode & 0o6000:
                bad.append(f"{name} sets a user or a group")
        if bad:
            raise SystemExit(f"containers: {self.name} has {', '.join(bad[:10])}")


class Container:
    """An image that runs, as a service of compose.yaml says."""

    def __init__(self, image, command=None, environment=(), mounts=(), temporary=(), has_network=True):
        self.name, self.image = f"upright-{image.name}-{os.getpid()}", image
        configuration = json.loads(json.dumps(image.configuration))
        process = configuration["process"]
        if process["user"]["uid"] != 10001:
            raise SystemExit(f"containers: {image.name} runs as {process['user']}")
        entry = len(process["args"]) if command is None else 1
        process.update(terminal=False, rlimits=[], noNewPrivileges=True, args=process["args"][:entry] + list(command or ()))
        process["env"] += environment
        process["capabilities"] = {kind: [] for kind in process["capabilities"]}
        configuration["root"]["readonly"] = True
        configuration["mounts"] = [mount for mount in configuration["mounts"] if not mount["destination"].startswith("/sys")]
        for source, target, mode in mounts:
            configuration["mounts"].append(
                {"destination": target, "type": "bind", "source": str(source), "options": ["rbind", mode]})
        for target in temporary:
            configuration["mounts"].append({"destination": target, "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]})
        if has_network:
            configuration["linux"]["namespaces"] = [
                space for space in configuration["linux"]["namespaces"] if space["type"] != "network"]
        (image.bundle / "config.json").write_text(json.dumps(configuration))
        self.log = open(image.bundle / "log", "w+")
        self.process = subprocess.Popen(["runc", "run", "--bundle", image.bundle, self.name], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)

    def said(self):
        return pathlib.Path(self.log.name).read_text()

    def is_healthy(self):
        run("runc", "exec", self.name, *self.image.health)
        return True

    def stop(self):
        subprocess.run(["runc", "kill", self.name, "TERM"], capture_output=True)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            subprocess.run(["runc", "kill", self.name, "KILL"], capture_output=True)
            return self.process.wait()


def services(folder, images, compose):
    """Starts what compose.yaml names. Yields its containers by name."""
    data = folder / "data"
    data.mkdir()
    os.chown(data, 10001, 10001)
    named = {"data": data}
    running = {}
    for name, service in compose["services"].items():
        if service["image"].startswith("nginxinc/"):
            continue
        if not service["read_only"] or service["cap_drop"] != ["ALL"] or service["network_mode"] != "host":
            raise SystemExit(f"containers: {name} isn't confined")
        mounts = []
        for volume in service.get("volumes", ()):
            source, target, *mode = volume.split(":")
            mounts.append((named.get(source) or CONTAINERS / source, target, *(mode or ["rw"])))
        environment = [f"{key}={TOKEN if value.startswith('${') else value}" for key, value in service.get("environment", {}).items()]
        image = images[service["image"].split(":")[0].removeprefix("upright-")]
        running[name] = Container(image, service.get("command"), environment, mounts, service["tmpfs"])
    return running


def call(path, body=None):
    request = urllib.request.Request("http://127.0.0.1:8080" + path, json.dumps(body).encode() if body is not None else None,
                                     {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def played(name):
    """Sizes of pictures that ffmpeg decodes from the playlist behind nginx."""
    return run("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "frame=width,height", "-read_intervals", "%+1",
               "-of", "csv=p=0", f"http://127.0.0.1:8090/live/{name}/index.m3u8").split()


def publish_from_a_browser():
    """Chromium's drawn camera by WHIP. Returns what stops it."""
    import chromium_play
    import console_road
    from playwright.sync_api import sync_playwright

    browser = next(filter(None, map(shutil.which, chromium_play.BROWSERS)))
    stack = contextlib.ExitStack()
    playwright = stack.enter_context(sync_playwright())
    chromium = playwright.chromium.launch(executable_path=browser, args=[
        "--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server", "--mute-audio", *console_road.FAKE])
    stack.callback(chromium.close)
    page = chromium.new_page()
    page.goto("http://127.0.0.1:8080/healthz")
    status = page.evaluate(console_road.WHIP, ["/whip/phone", TOKEN])
    if status != 201:
        raise SystemExit(f"containers: the service answered {status} to WHIP")
    return stack


def check(artifacts, folder):
    began = time.monotonic()

    def say(text):
        print(f"containers: {time.monotonic() - began:5.1f} s  {text}", flush=True)

    images = {image.name: image for image in (Image(path, folder) for path in sorted(artifacts.glob("upright-image-*.tar")))}
    for image in images.values():
        image.look_through()
        say(f"{image.name}: {image.bytes / 1e6:.1f} MB, nothing in it that shouldn't be")

    clip = folder / "work"
    clip.mkdir()
    os.chown(clip, 10001, 10001)
    shutil.copy(ROOT / "Samples/clips/display-matrix.mp4", clip / "take.mp4")
    turned = Container(images["upright"], ["transcode", "take.mp4"], mounts=[(clip, "/work", "rw")], has_network=False)
    if turned.process.wait(60):
        raise SystemExit(f"containers: upright: {turned.said()}")
    say("upright: " + turned.said().strip())

    import yaml
    compose = yaml.safe_load((CONTAINERS / "compose.yaml").read_text())
    settings = json.loads((CONTAINERS / "upright.json").read_text())
    key = settings["sessions"][0]["key"]
    with contextlib.ExitStack() as stack:
        running = services(folder, images, compose)
        for container in running.values():
            stack.callback(container.stop)
        stack.push(lambda kind, *_: kind and print(*(container.said() for container in running.values()), file=sys.stderr))
        for name, container in running.items():
            wait(f"{name} is healthy", container.is_healthy, 30)
            say(f"{name} is healthy, as its image asks")
        nginx = subprocess.Popen(["setpriv", "--reuid", "10001", "--regid", "10001", "--clear-groups", "nginx", "-c",
                                  CONTAINERS / "nginx.conf", "-g", "daemon off;"], stderr=subprocess.DEVNULL)
        stack.callback(nginx.wait)
        stack.callback(nginx.terminate)
        publisher = subprocess.Popen(
            ["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30", "-c:v", "libx264", "-preset",
             "ultrafast", "-g", "30", "-f", "flv", f"rtmp://127.0.0.1:1935/live/cam?key={key}"], stdin=subprocess.DEVNULL)
        stack.callback(publisher.wait)
        stack.callback(publisher.terminate)
        say(f"published by RTMP, played through nginx: {len(wait('RTMP is played', lambda: played('cam')))} pictures")
        stack.enter_context(publish_from_a_browser())
        say(f"published by WHIP, played through nginx: {len(wait('WHIP is played', lambda: played('phone')))} pictures")
        states = {session["id"]: session["state"] for session in call("/v1/sessions")["sessions"]}
        say(f"sessions: {states}")
    status = running["upright"].process.returncode
    if status:
        raise SystemExit(f"containers: upright-serve ended with {status}: {running['upright'].said()[-2000:]}")
    say("stopped in order")


def main():
    if "--inside" not in sys.argv:
        os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, __file__, *sys.argv[1:], "--inside"])
    run("ip", "link", "set", "lo", "up")
    # WebRTC doesn't use loopback.
    run("ip", "link", "add", "upright0", "type", "veth", "peer", "name", "upright1")
    for name, address in (("upright0", "10.77.0.1/24"), ("upright1", "10.77.1.1/24")):
        run("ip", "address", "add", address, "dev", name)
        run("ip", "link", "set", name, "up")
    with tempfile.TemporaryDirectory(prefix="upright-containers-") as folder:
        check(pathlib.Path(sys.argv[1]), pathlib.Path(folder))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"containers: {error.cmd}: {error.stderr or error.stdout}")
