"""Headless Chromium, controlled by its DevTools protocol over a pipe."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

import chromium_play


class Browser:
    """A browser with one page. Call `close`."""

    def __init__(self, program, *flags, size=(360, 740)):
        self.profile = tempfile.mkdtemp(prefix="upright-chromium-")
        (self.from_us, self.writer), (self.reader, self.to_us) = os.pipe(), os.pipe()
        environment = dict(os.environ, HOME=self.profile, XDG_CONFIG_HOME=self.profile, XDG_CACHE_HOME=self.profile)

        def prepare():
            chromium_play.die_with_parent()
            # Numbers that don't collide with 3 and 4, which Chromium reads and writes.
            reads, writes = os.dup(self.from_us), os.dup(self.to_us)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--user-data-dir=" + self.profile, "--remote-debugging-pipe",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", "--no-proxy-server", "--mute-audio",
             "--window-size=%d,%d" % size, *flags, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
            preexec_fn=prepare, pass_fds=(3, 4), process_group=0)
        os.close(self.from_us)
        os.close(self.to_us)
        self.count, self.received, self.events = 0, b"", []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.page = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=True)

    def call(self, method, session=None, **parameters):
        """Sends a command and returns its result."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.received:
            data = os.read(self.reader, 1 << 16)
            if not data:
                raise RuntimeError("Chromium has ended")
            self.received += data
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        return self.call(method, self.page, **parameters)

    def open(self, url):
        self.ask("Page.navigate", url=url)

    def run(self, script):
        """Returns the value of an expression in the page."""
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def wait(self, condition, seconds=20):
        """Waits until an expression is true. Returns whether it is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(condition):
                    return True
            except RuntimeError:
                pass
            time.sleep(0.1)
        return False

    def press(self, key, code, number):
        for kind in ("rawKeyDown", "char", "keyUp"):
            text = {"text": "\r"} if kind == "char" and key == "Enter" else {}
            if kind != "char" or text:
                self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number, **text)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def tree(self):
        """Returns the roles and names in the accessibility tree."""
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        return [(node.get("role", {}).get("value"), node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]

    def close(self):
        chromium_play.stop(self.process)
        os.close(self.writer)
        os.close(self.reader)
        shutil.rmtree(self.profile, ignore_errors=True)
