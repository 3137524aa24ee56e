#!/usr/bin/env python3
"""Uses the console of `upright serve` in headless Chromium, as a person does, and reports what it showed.

    console_stage.py UPRIGHT FOLDER

Starts `UPRIGHT serve --data FOLDER` and a publisher, and runs the scenes below in their order. A scene that finds something else
than it expects ends the run. Needs Playwright, and Debian's Chromium.

Prints one JSON object: {"error": null, "scenes": {NAME: what it measured}}. Times are in seconds.
Exit code: 0 done, 1 not, 77 Chromium, ffmpeg or Playwright is missing.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

import chromium_play
import console_access
import janus_record

DONE, FAILED, MISSING = 0, 1, 77
TOKEN = "admin-token-of-the-stage"
# The frames of a camera whose upper left quarter is white.
CAMERA = "color=black:s=320x240:r=25,drawbox=0:0:160:120:white:fill"

SLATE = "magenta"
# Resolves when the video shows a frame of this shape with the white quarter in this corner: milliseconds since the next key.
WATCH = """([corner, isWide]) => {
  const video = document.querySelector(".stage video"), canvas = document.createElement("canvas");
  canvas.width = canvas.height = 8;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  let pressed = null;
  addEventListener("keydown", () => { pressed = performance.now(); }, { once: true, capture: true });
  window.seen = new Promise(done => {
    const look = () => {
      if (pressed !== null && video.videoWidth && video.videoWidth > video.videoHeight === isWide) {
        context.drawImage(video, 0, 0, 8, 8);
        const data = context.getImageData(0, 0, 8, 8).data;
        const at = (x, y) => data[4 * (y * 8 + x)];
        const corners = { topLeft: at(1, 1), topRight: at(6, 1), bottomLeft: at(1, 6), bottomRight: at(6, 6) };
        if (Object.entries(corners).every(([name, value]) => (value > 128) === (name === corner))) return done(performance.now() - pressed);
      }
      setTimeout(look, 10);
    };
    look();
  });
}"""


# The frame that the preview shows: red, green and blue of each of 8 times 8 places.
PIXELS = """() => {
  const video = document.querySelector(".stage video"), canvas = document.createElement("canvas");
  canvas.width = canvas.height = 8;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 8, 8);
  const { data } = context.getImageData(0, 0, 8, 8);
  return Array.from({ length: 64 }, (_, at) => [...data.slice(4 * at, 4 * at + 3)]);
}"""

# Points of the page, boxes of the element, sizes of the video, layouts of the canvases, and the focus that they mean.
POINTS = """async () => {
  const { focusAt } = await import("/console/focus.js");
  const box = (width, height) => ({ left: 10, top: 20, width, height });
  const layout = (canvas, part, place = [0, 0, 1, 1]) => ({ canvas, part, place });
  const whole = [0, 0, 1, 1], cropped = [0.25, 0, 0.5, 1];
  const tall = layout("180x320", cropped), wide = layout("320x180", [0, 0.1, 1, 0.8]);
  const rows = [
    // The box has the video's shape.
    [[10, 20], box(400, 200), [200, 100], [], [0, 0]], [[410, 220], box(400, 200), [200, 100], [], [1, 1]],
    [[110, 170], box(400, 200), [200, 100], [], [0.25, 0.75]],
    // Margins above and below, then left and right: a point on them is that of the edge.
    [[110, 120], box(400, 400), [200, 100], [], [0.25, 0]], [[110, 60], box(400, 400), [200, 100], [], [0.25, 0]],
    [[110, 220], box(400, 400), [200, 100], [], [0.25, 0.5]], [[110, 400], box(400, 400), [200, 100], [], [0.25, 1]],
    [[110, 120], box(400, 400), [100, 200], [], [0, 0.25]], [[20, 120], box(400, 400), [100, 200], [], [0, 0.25]],
    [[260, 120], box(400, 400), [100, 200], [], [0.75, 0.25]], [[500, -50], box(400, 400), [100, 200], [], [1, 0]],
    // The canvas crops the frame.
    [[10, 20], box(180, 320), [180, 320], [tall], [0.25, 0]], [[190, 340], box(180, 320), [180, 320], [tall], [0.75, 1]],
    [[55, 100], box(180, 320), [180, 320], [tall], [0.375, 0.25]],
    // It has margins: the frame is in the middle half.
    [[100, 180], box(180, 320), [180, 320], [layout("180x320", whole, [0, 0.25, 1, 0.5])], [0.5, 0.5]],
    [[100, 120], box(180, 320), [180, 320], [layout("180x320", whole, [0, 0.25, 1, 0.5])], [0.5, 0.125]],
    [[100, 50], box(180, 320), [180, 320], [layout("180x320", whole, [0, 0.25, 1, 0.5])], [0.5, 0]],
    // Both, in a box with margins.
    [[210, 220], box(400, 400), [100, 200], [layout("100x200", cropped, [0, 0.25, 1, 0.5])], [0.5, 0.5]],
    [[110, 170], box(400, 400), [100, 200], [layout("100x200", cropped, [0, 0.25, 1, 0.5])], [0.25, 0.25]],
    // Of two canvases, the one with the video's shape counts, also if the video is a smaller rung.
    [[10, 20], box(90, 160), [90, 160], [wide, tall], [0.25, 0]], [[10, 20], box(160, 90), [160, 90], [tall, wide], [0, 0.1]],
    // No video yet, or no box.
    [[10, 20], box(90, 160), [0, 0], [tall], null], [[10, 20], box(0, 0), [90, 160], [tall], null]
  ];
  return rows.map(([at, box, size, layouts, expected]) => ({ got: focusAt(at, box, size, layouts), expected }));
}"""


class Stage:
    """The service and its publisher."""

    def __init__(self, upright, folder, settings=None):
        self.port, self.rtmp = janus_record.free_port(), janus_record.free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.upright, self.folder, self.publisher, self.settings = upright, folder, None, settings or {}
        self.log = open(os.path.join(folder, "serve.log"), "wb")
        self.begin()

    def begin(self):
        """The service starts, or starts again. Returns when it answers."""
        self.service = subprocess.Popen(
            [self.upright, "serve", "--listen", "127.0.0.1:%d" % self.port, "--data", os.path.join(self.folder, "data")],
            env=dict(os.environ, UPRIGHT_TOKEN=TOKEN, **self.settings), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            preexec_fn=chromium_play.die_with_parent)
        end = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(self.url + "/readyz").read()
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, data=body and json.dumps(body).encode(),
                                         headers={"Authorization": "Bearer " + TOKEN})
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def forget(self, name):
        """Ends a session, and removes it from the list."""
        for _ in range(2):
            self.ask("DELETE", "/v1/sessions/" + name)

    def publish(self, name, **more):
        """Makes a session and publishes to it."""
        self.address = "rtmp://127.0.0.1:%d/live/%s-key-of-the-stage" % (self.rtmp, name)
        subprocess.run(
            ["ffmpeg", "-nostdin", "-y", "-v", "error", "-f", "lavfi", "-i", "color=%s:s=180x320" % SLATE, "-frames:v", "1",
             os.path.join(self.folder, "data", "slate.png")], check=True)
        self.ask("POST", "/v1/sessions", {
            "name": name, "input": {"url": self.address}, "latency": "low",
            "options": {"frames": "sensor", "size": "180x320", "segment": 1, "speed": "ultrafast", "slate": "slate.png"}, **more})
        self.come()

    def come(self):
        """The publisher comes, or comes back."""
        self.publisher = subprocess.Popen(
            ["ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", CAMERA, "-c:v", "libx264", "-preset", "ultrafast",
             "-tune", "zerolatency", "-g", "25", "-pix_fmt", "yuv420p", "-f", "flv", self.address],
            stdin=subprocess.DEVNULL, preexec_fn=chromium_play.die_with_parent)

    def leave(self):
        self.publisher.kill()
        self.publisher.wait()

    def stop(self):
        if self.publisher:
            self.leave()
        self.end()

    def end(self):
        """The service ends."""
        self.service.send_signal(signal.SIGTERM)
        try:
            self.service.wait(15)
        except subprocess.TimeoutExpired:
            self.service.kill()
            self.service.wait()


def wait(page, condition, seconds=60):
    """Waits until an expression is true. Playwright's own waiting evaluates strings, which the page's policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def wait_for_pixels(page, are, seconds=60):
    """Waits until the preview's frame, as 8 rows of 8 colours, is as `are` wants it. Returns the seconds."""
    start = time.monotonic()
    while True:
        pixels = page.evaluate(PIXELS)
        if are([pixels[8 * row:8 * row + 8] for row in range(8)]):
            return round(time.monotonic() - start, 2)
        assert time.monotonic() < start + seconds, pixels
        time.sleep(0.05)


class MotionSensor:
    """The motion sensor of a page, by the browser's override."""

    KINDS = ("accelerometer", "linear-acceleration", "gyroscope")

    def __init__(self, page):
        self.tools = page.context.new_cdp_session(page)
        for kind in self.KINDS:
            self.tools.send("Emulation.setSensorOverrideEnabled", {"enabled": True, "type": kind, "metadata": {"available": True}})

    def hold(self, x, y, z):
        """Sets the force that holds the phone, in m/s2."""
        for kind in self.KINDS:
            reading = {"x": x, "y": y, "z": z} if kind == "accelerometer" else {"x": 0, "y": 0, "z": 0}
            self.tools.send("Emulation.setSensorOverrideReadings", {"type": kind, "reading": {"xyz": reading}})

    def turn(self, console, device, x, y, z):
        """Holds the phone until the console shows this device orientation. A real phone's readings are never the same twice."""
        end = time.monotonic() + 10
        while console.locator(".phone").get_attribute("aria-valuetext") != device:
            assert time.monotonic() < end, "the phone did not turn the session"
            self.hold(x, y + 0.1 * (time.monotonic() % 1), z)
            time.sleep(0.1)


def reach(page, *wanted):
    """The keyboard reaches these controls in this order, the focus can be seen, all texts have contrast, and the page isn't wider than
    its window. A control is its role and the beginning of its name in the accessibility tree."""
    controls, faults = console_access.walk(page)
    faults += console_access.contrast(page)
    size = page.viewport_size
    for width in (360, 768, 1440):
        page.set_viewport_size({"width": width, "height": size["height"]})
        try:
            # What follows the width, such as the seek bar, changes a moment later.
            wait(page, "document.documentElement.scrollWidth <= innerWidth", 2)
        except AssertionError:
            faults.append("wider than %d" % width)
    page.set_viewport_size(size)
    assert not faults, (faults, controls)
    assert len(controls) == len(wanted) and all(map(str.startswith, controls, wanted)), (controls, wanted)


HEADER = ("link Upright", "link Sessions", "link Recordings", "link Library", "link Policy", "button Log out")
START = ("link New session", "button Play the sample", "button Publish from a phone")

# MARK: The scenes


def log_in(page, stage):
    """Without a token, with a wrong one, with the right one; the address has no token, scripts can't read the cookie."""
    expect = page.expect
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(stage.url)
    token = page.get_by_label("Admin token")
    expect(token).to_be_focused()
    expect(page.get_by_role("button", name="Log out")).to_be_hidden()
    reach(page, *HEADER[:-1], "textbox Admin token", "button Log in")
    token.focus()
    token.press("Enter")
    assert not any(url.endswith("/v1/login") for url in requests), "an empty token was sent"
    token.press_sequentially("wrong")
    token.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This is not the service's token.")
    token.fill(TOKEN)
    token.press("Enter")
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    assert TOKEN not in page.url and page.evaluate("document.cookie") == ""
    cookie, = page.context.cookies()
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and TOKEN not in cookie["value"], cookie
    assert page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0


def open_session(page, stage):
    """The list names the session, and its page plays it."""
    expect = page.expect
    card = page.get_by_role("link", name="camera")
    expect(card).to_contain_text("live")
    card.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("camera live")
    wait(page, "document.querySelector('.stage video')?.currentTime > 1")


def turn(page, stage):
    """The drawn phone, turned by keyboard, turns the pixels of the preview."""
    phone = page.get_by_role("slider", name="Drawn phone")
    box = page.locator(".stage").bounding_box()
    times = {}
    for key, device, corner, is_wide in (("ArrowLeft", "turned left", "topLeft", True), ("ArrowRight", "upright", "topRight", False),
                                         ("ArrowRight", "turned right", "bottomRight", True), ("Home", "upright", "topRight", False)):
        page.evaluate(WATCH, [corner, is_wide])
        phone.focus()
        page.keyboard.press(key)
        page.expect(phone).to_have_attribute("aria-valuetext", device)
        times[device] = round(page.evaluate("Promise.race([seen, new Promise(done => setTimeout(done, 8000, 9999))])") / 1000, 2)
        page.expect(page.get_by_label("Timeline, newest first").get_by_role("listitem").filter(has_text="Phone " + device).first).to_be_visible()
    assert page.locator(".stage").bounding_box() == box, "the page moved when the video turned"
    page.keyboard.press("ArrowUp")
    said = page.locator(".said")
    page.expect(said).to_contain_text("Phone flat on its back: the picture stays portrait.")
    # UIKit's words are there for those who ask, and the number of a rule leads to its sentence.
    page.expect(said.get_by_role("link")).to_be_hidden()
    said.get_by_text("Why").click()
    page.expect(said).to_contain_text("Rule 1 of automatic rotation: the device is faceUp")
    said.get_by_role("link", name="Rule 1 of automatic rotation").click()
    page.expect(page.locator(".is-chosen")).to_contain_text("A phone that lies flat")
    page.go_back()
    wait(page, "document.querySelector('.stage video')?.currentTime > 0.5")
    phone.press("Home")
    page.expect(phone).to_have_attribute("aria-valuetext", "upright")
    return times


def lock(page, stage):
    """A locked phone doesn't turn, and the page says why; the app can still turn itself."""
    expect = page.expect
    said = page.locator(".said")
    button = page.get_by_role("button", name="Lock rotation")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radio", name="turned left").check()
    expect(said).to_contain_text("Phone turned left: the picture stays portrait, because rotation is locked.")
    expect(said).to_contain_text("Rule 3 of automatic rotation: the system rotation lock is on.")
    page.get_by_label("Turn the app to").select_option("landscapeRight")
    page.get_by_role("button", name="Turn the app").click()
    expect(said).to_contain_text("App turned to landscape: the picture turns to landscape.")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    page.get_by_text("Who decides").click()
    expect(page.locator(".tree [aria-current]")).to_contain_text("decides")


def focus(page, stage):
    """A click on the preview keeps that point of the upright frame in the middle, wherever the canvas shows it."""
    expect = page.expect
    for row in page.evaluate(POINTS):
        assert row["got"] == row["expected"], row
    said, button = page.locator(".said"), page.get_by_role("button", name="Set focus")
    video = page.locator(".stage video")

    def click(x, y):
        """Clicks a point of the canvas, which is as high as the element."""
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        box = video.bounding_box()
        width = box["height"] * 180 / 320
        assert width < box["width"], box
        page.mouse.click(box["x"] + box["width"] / 2 + (x - 0.5) * width, box["y"] + y * box["height"])
        expect(button).to_have_attribute("aria-pressed", "false")

    def layout():
        only, = stage.ask("GET", "/v1/sessions/camera")["layouts"]
        return only

    def wait_for_layout(left):
        """Waits for the canvas of the portrait, whose crop begins at `left`: decided is not yet encoded."""
        end = time.monotonic() + 5
        while (now := layout())["canvas"] != "180x320" or abs(now["part"][0] - left) > 2 / 240:
            assert time.monotonic() < end, (now, left)
            time.sleep(0.05)

    page.get_by_role("radio", name="upright", exact=True).check()
    expect(said).to_contain_text("the picture turns to portrait")
    wait_for_layout(0)
    assert layout()["part"] == [0, 0, 1, 1] and layout()["place"] == [0, 0.125, 1, 0.75], layout()
    # Nothing is cropped, so there is no point to choose.
    expect(button).to_be_hidden()
    stage.ask("PATCH", "/v1/sessions/camera", {"options": {"fit": "fill"}})
    expect(button).to_be_visible()
    # Three quarters of the columns are shown: 0.125 to 0.875. The white quarter begins in the middle, and there are no bars.
    wait_for_layout(0.125)
    wait_for_pixels(page, lambda rows: rows[0][4][0] > 128 > rows[0][3][0])
    click(0.6, 0.3)
    # 0.125 + 0.6 * 0.75 is in the middle: 0.575.
    wait_for_layout(0.2)
    # Beside the canvas.
    click(-0.3, 0.5)
    wait_for_layout(0)
    moved = wait_for_pixels(page, lambda rows: rows[0][6][0] > 128 > rows[0][4][0])
    # By keyboard: from the middle of the canvas, 0.375, to the right by two steps of 0.05.
    button.press("Enter")
    expect(video).to_be_focused()
    expect(page.locator(".target")).to_be_hidden()
    for _ in range(2):
        video.press("ArrowRight")
    expect(page.locator(".target")).to_be_visible()
    video.press("Enter")
    expect(button).to_be_focused()
    wait_for_layout(0.075)
    button.press("Enter")
    video.press("Escape")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(video).not_to_have_attribute("tabindex", "0")
    stage.ask("PATCH", "/v1/sessions/camera", {"options": {"fit": "fit"}})
    return {"moved": moved}


def use_phone(page, stage):
    """A second browser opens the link, and its motion sensor turns the session; the link works once."""
    expect = page.expect
    page.get_by_role("button", name="Use this phone").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="QR code of the link")).to_be_visible()
    link = dialog.get_by_role("link").get_attribute("href")
    assert "/sensor/camera#" in link and TOKEN not in link, link
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    context = page.context.browser.new_context(viewport={"width": 360, "height": 740})
    try:
        phone = context.new_page()
        sensor = MotionSensor(phone)
        page.get_by_role("radio", name="upright", exact=True).check()
        sensor.hold(0, 9.81, 0)
        phone.goto(link)
        expect(phone.get_by_role("status")).to_have_text("Ready. Nothing is sent until you start.")
        reach(phone, "button Start sending")
        assert "#" not in phone.url and context.cookies() == []
        phone.get_by_role("button", name="Start sending").click()
        expect(phone.get_by_role("status")).to_have_text("Sending.")
        expect(phone.locator("#held")).to_have_text("upright")
        page.evaluate(WATCH, ["topLeft", True])
        page.keyboard.press("Shift")
        sensor.turn(page, "turned left", 9.81, 0, 0)
        expect(phone.locator("#held")).to_have_text("on its left side")
        page.evaluate("seen")
        phone.get_by_role("button", name="Stop sending").click()
        again = context.browser.new_context()
        copy = again.new_page()
        copy.goto(link)
        expect(copy.get_by_role("status")).to_contain_text("this link was used already")
        again.close()
    finally:
        context.close()
    page.get_by_role("radio", name="upright", exact=True).check()
    expect(page.locator(".said")).to_contain_text("the picture turns to portrait")


def stands(is_wide):
    """Returns whether pixels of the sample's scene stand upright: the sky above, the grass below, the tree on the left."""
    def check(rows):
        sky = all(blue > 180 and blue > green > red for red, green, blue in rows[0][1:3])
        grass = all(green > blue + 30 and green > red + 30 for red, green, blue in (rows[7][1], rows[7][6]))
        tree, other = rows[4 if is_wide else 5][1], rows[4 if is_wide else 5][6]
        return sky and grass and other[2] - tree[2] > 40
    return check


SHAPE = "(video => video && video.videoWidth > 0 && video.videoWidth > video.videoHeight === %s)(document.querySelector('.stage video'))"


def wait_for_scene(page, is_wide):
    """Waits until the preview has this shape, and shows the scene upright in it."""
    wait(page, SHAPE % ("true" if is_wide else "false"))
    return wait_for_pixels(page, stands(is_wide), 20)


def first_run(page, stage):
    """One click plays the sample, which stands upright in whatever way the drawn phone is held, locked or turned by the app; it is
    stopped and played again, and the player goes on. The list shows pictures of both sessions."""
    expect = page.expect
    page.get_by_role("link", name="Sessions").click()
    start = time.monotonic()
    page.get_by_role("button", name="Play the sample").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("sample live")
    wait(page, "document.querySelector('.stage video')?.videoWidth > 0")
    shown = round(time.monotonic() - start, 1)
    # It turns by itself.
    expect(page.get_by_label("Timeline, newest first")).to_contain_text("Phone turned left: the picture turns to landscape")
    for held, is_wide in (("turned right", True), ("upright", False), ("turned left", True), ("flat on its back", True), ("upright", False)):
        page.get_by_role("radio", name=held, exact=True).check()
        wait_for_scene(page, is_wide)
    # The canvas stays tall, and the scene lies across it: with bars, but upright.
    lock = page.get_by_role("button", name="Lock rotation")
    lock.click()
    expect(lock).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radio", name="turned left").check()
    expect(page.locator(".said")).to_contain_text("rotation is locked")
    wait_for_pixels(page, lambda rows: max(rows[0][4] + rows[7][4]) < 40 and rows[3][6][2] > 150 and rows[5][6][1] > rows[5][6][2] + 5, 20)
    lock.click()
    wait_for_scene(page, True)
    page.get_by_role("button", name="Stop session").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("sample ended")
    assert page.locator(".reason").inner_text() == "", "a normal end is no problem"
    page.get_by_role("button", name="Play the sample again").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("sample live")
    page.get_by_role("radio", name="turned right", exact=True).check()
    again = wait_for_scene(page, True)
    page.get_by_role("button", name="Sound").click()
    wait(page, "!document.querySelector('.stage video').muted")
    page.get_by_role("link", name="Sessions").click()
    wait(page, "document.querySelectorAll('.thumbnail').length === 2")
    wait(page, "[...document.querySelectorAll('.thumbnail')].every(one => one.naturalWidth > 0)")
    stage.ask("DELETE", "/v1/sessions/sample")
    return {"shown": shown, "again": again}


def make_session(page, stage):
    """A form with every field wrong says so at each; corrected, it makes a session. ffmpeg publishes with the command that the page shows; an
    output is added, stopped and removed; the recording is played, downloaded and deleted; the session is stopped and deleted."""
    expect = page.expect
    page.get_by_role("link", name="Sessions").click()
    page.get_by_role("link", name="New session").click()
    expect(page.get_by_role("heading", name="New session")).to_be_visible()
    name, port = page.get_by_label("Name", exact=True), page.get_by_label("Port")
    way = page.get_by_label("It comes from")
    way.select_option("srt")
    name.fill("Ünïcode и 日本")
    port.fill("70000")
    page.get_by_label("Passphrase").fill("short")
    page.get_by_label("Record to a file").check()
    page.get_by_label("Name of the file").fill("../take.exe")
    page.get_by_label("Send on to").fill("data:nothing")
    page.get_by_role("button", name="Make the session").click()
    wrong = page.evaluate("[...document.querySelectorAll('[aria-invalid=true]')].map(one => one.id)")
    assert wrong == ["name", "port", "passphrase", "file", "forward"], wrong
    expect(name).to_be_focused()
    reach(page, *HEADER, "textbox Name", "combobox It comes from", "combobox Listen on", "textbox Port", "textbox Passphrase",
          "combobox Shape", "combobox Size", "combobox Frames arrive", "checkbox Play in browsers", "checkbox Low latency", "checkbox Record to a file",
          "textbox Name of the file", "textbox Send on to", "button Make the session", "link Cancel")
    page.get_by_label("Send on to").fill("")
    page.get_by_label("Name of the file").fill("take.mp4")
    way.select_option("rtmp")
    # What only the service knows is said at its field, too.
    name.fill("camera")
    port.fill(str(stage.rtmp))
    page.get_by_role("button", name="Make the session").click()
    expect(page.locator("#name-error")).to_contain_text("a session named camera is running")
    name.fill("stage-1")
    page.get_by_label("Size").select_option("360p")
    page.get_by_role("button", name="Make the session").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("stage-1 waiting for its stream")
    fields = {title: page.get_by_label(title, exact=True) for title in ("Server", "Stream key", "Command")}
    assert fields["Stream key"].get_attribute("type") == "password"
    page.get_by_role("button", name="Show the keys").click()
    server, key, command = (field.input_value() for field in fields.values())
    assert fields["Stream key"].get_attribute("type") == "text" and len(key) == 24
    assert "no phone can reach it" in page.locator("main").inner_text()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: Command").click()
    expect(page.get_by_role("button", name="Copy: Command")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == command and server + "/" + key in command
    # A clip of this name is what its user has.
    subprocess.run(["ffmpeg", "-nostdin", "-y", "-v", "error", "-f", "lavfi", "-i", "color=red:s=320x180:r=25", "-f", "lavfi", "-i", "sine", "-t", "60",
                    "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "clip.mp4"], cwd=stage.folder, check=True)
    publisher = subprocess.Popen(command.replace("ffmpeg ", "exec ffmpeg -nostdin -v error ", 1), shell=True, cwd=stage.folder,
                                 preexec_fn=chromium_play.die_with_parent)
    try:
        start = time.monotonic()
        expect(heading).to_contain_text("stage-1 live")
        wait_for_pixels(page, lambda rows: all(rows[4][4][0] > 180 > 90 > one for one in rows[4][4][1:]))
        shown = round(time.monotonic() - start, 1)
        expect(page.get_by_text("take.mp4").first).to_be_visible()
        page.get_by_label("Kind of output").select_option("file")
        page.get_by_label("Name of the file").fill("second.mp4")
        page.get_by_role("button", name="Add output").click()
        stop = page.get_by_role("button", name="Stop Recording (file-2)")
        expect(stop.locator("xpath=ancestor::li")).to_contain_text("sending")
        page.wait_for_timeout(1500)
        stop.click()
        expect(page.get_by_role("button", name="Start Recording (file-2)")).to_be_visible()
        page.get_by_role("button", name="Remove Recording (file-2)").click()
        expect(page.get_by_role("button", name="Start Recording (file-2)")).to_have_count(0)
        page.get_by_label("Kind of output").select_option("push")
        page.get_by_label("Address", exact=True).fill("http://example.com")
        page.get_by_role("button", name="Add output").click()
        expect(page.get_by_text("Write an address that begins with").first).to_be_visible()
        page.get_by_text("Watch and embed").click()
        watched = page.get_by_label("Page", exact=True).input_value()
        viewer = page.context.browser.new_context().new_page()
        viewer.goto(watched)
        wait(viewer, "document.querySelector('video')?.currentTime > 0.5")
        viewer.context.close()
        page.get_by_role("button", name="Play second.mp4").click()
        wait(page, "document.querySelector('dialog video')?.duration > 1")
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download second.mp4").click()
        probed = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", download.value.path()],
                                capture_output=True, text=True, check=True).stdout.split()
        assert sorted(probed) == ["audio", "video"], probed
        # Every question is answered with yes from here on.
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete second.mp4").click()
        expect(page.get_by_role("button", name="Delete second.mp4")).to_have_count(0)
        page.get_by_role("button", name="Stop session").click()
        expect(heading).to_contain_text("stage-1 ended")
        page.get_by_role("button", name="Delete session").click()
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        expect(page.get_by_role("link", name="stage-1")).to_have_count(0)
        page.goto(stage.url + "/#/sessions/stage-1")
        expect(page.get_by_text("There is no session of this name any more.")).to_be_visible()
    finally:
        publisher.kill()
        publisher.wait()
    page.get_by_role("link", name="Sessions", exact=True).click()
    return {"shown": shown}


def edit_policy(page, stage):
    """An error is shown with its place, and selected; a right policy is explained and applied."""
    expect = page.expect
    page.get_by_role("link", name="camera").click()
    page.get_by_text("Who decides").click()
    page.get_by_role("link", name="Edit the policy").click()
    policy = page.get_by_label("Policy, as JSON")
    # The session's page has such items too.
    decisions = page.get_by_role("list", name="Decisions")
    expect(decisions.get_by_role("listitem").filter(has_text="Rule 8 of automatic rotation").first).to_be_visible()
    policy.fill('{\n  "controllers": {"main": {"supported": ["landscap"]}}\n}')
    error = page.get_by_role("button", name="controllers.main.supported[0]")
    error.click()
    selected = policy.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert selected == '"landscap"', selected
    expect(policy).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text('did you mean "landscape"?')).to_be_visible()
    # Nothing of the text before it is left beside the error.
    expect(decisions.get_by_role("listitem")).to_have_count(0)
    expect(page.get_by_role("img", name="Timeline of the decisions")).to_have_count(0)
    expect(page.get_by_role("button", name="Apply to camera")).to_be_disabled()
    policy.fill('{"controllers": {"main": {"supported": ["landscape"], "shouldAutorotate": true}}}')
    expect(policy).to_have_attribute("aria-invalid", "false")
    expect(page.get_by_role("img", name="Timeline of the decisions")).to_be_visible()
    page.get_by_role("button", name="Apply to camera").click()
    expect(page.get_by_role("status")).to_contain_text("Applied.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert "landscape" in open(download.value.path()).read()
    page.go_back()
    page.get_by_text("Who decides").click()
    expect(page.locator(".tree")).to_contain_text("supports landscape right, landscape left")
    stage.ask("PATCH", "/v1/sessions/camera", {"policy": "phone"})


def walk(page, stage):
    """The keyboard alone reaches and uses everything. The scene before has opened the panel "Who decides"."""
    expect = page.expect
    page.get_by_role("radio", name="flat on its back").check()
    expect(page.locator(".phone text")).to_have_text("on its back")
    expect(page.get_by_role("button", name="Stop Browsers (HLS)")).to_be_visible()
    session = (*HEADER, "button Stop session", "button Sound", "slider Volume", "button Picture in picture", "button Full screen", "button Show the keys",
               "textbox Server", "button Copy: Server", "textbox Stream key", "button Copy: Stream key", "textbox Command", "button Copy: Command",
               "DisclosureTriangle Watch and embed", "button Stop Browsers (HLS) (hls)", "button Remove Browsers (HLS) (hls)", "combobox Kind of output",
               "textbox Name of the file", "button Add output", "slider Drawn phone", "radio flat on its back", "button Lock rotation", "button App in front",
               "combobox Turn the app to", "button Turn the app", "button Use this phone", "DisclosureTriangle Why", "list Timeline, newest first", "button Show why",
               "DisclosureTriangle Who decides", "link Edit the policy")
    reach(page, *session)
    lock = page.get_by_role("button", name="Lock rotation")
    page.evaluate(console_access.START)
    for _ in range(session.index("button Lock rotation") + 1):
        page.keyboard.press("Tab")
    expect(lock).to_be_focused()
    for pressed in ("true", "false"):
        page.keyboard.press("Space")
        expect(lock).to_have_attribute("aria-pressed", pressed)
    page.get_by_role("slider", name="Drawn phone").press("Home")
    expect(page.locator(".said")).to_contain_text("portrait")
    page.get_by_role("link", name="Edit the policy").press("Enter")
    expect(page.get_by_role("img", name="Timeline of the decisions")).to_be_visible()
    expect(page.locator("main")).to_be_focused()
    reach(page, *HEADER, "combobox Start from a built-in policy", "textbox Policy, as JSON", "textbox Events, one on each line",
          "button Apply to camera", "button Download", "region Drawing of the decisions", "list Decisions",
          *("link Rule %d of automatic rotation" % rule for rule in (8, 3, 8)))
    page.get_by_label("Policy, as JSON").fill("{")
    expect(page.get_by_label("Policy, as JSON")).to_have_attribute("aria-invalid", "true")
    assert not console_access.contrast(page)
    page.get_by_role("link", name="Sessions").press("Enter")
    expect(page.get_by_role("link", name="camera")).to_be_visible()
    wait(page, "[...document.querySelectorAll('.card')].length === 2")
    reach(page, *HEADER, *START, "link camera live", "link sample ended")
    page.get_by_role("button", name="Publish from a phone").click()
    expect(page.get_by_role("heading", name="A phone's browser needs Janus")).to_be_visible()
    assert page.get_by_label("Start", exact=True).input_value()== "upright serve --webrtc auto"
    page.get_by_role("link", name="camera").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("camera live")
    wait(page, "document.querySelector('.stage video')?.videoWidth > 0")


def lose(page, stage):
    """The input is killed: the page says so, and shows the slate. The publisher returns, and its frames are shown."""
    heading = page.get_by_role("heading", level=1)
    timeline = page.get_by_label("Timeline, newest first").get_by_role("listitem").first
    page.evaluate("document.querySelector('.tree').dataset.mark = 'same page'")
    wait_for_pixels(page, lambda rows: rows[2][6][1] > 128 > rows[2][1][1])
    start = time.monotonic()
    stage.leave()
    page.expect(heading).to_contain_text("stream lost")
    said = round(time.monotonic() - start, 1)
    page.expect(timeline).to_contain_text("stream lost")
    wait_for_pixels(page, lambda rows: all(red > 180 and green < 80 and blue > 180 for row in rows for red, green, blue in row))
    slate = round(time.monotonic() - start, 1)
    assert not console_access.contrast(page)
    stage.come()
    page.expect(heading).to_contain_text("camera live")
    page.expect(timeline).to_contain_text("live")
    wait_for_pixels(page, lambda rows: rows[2][6][1] > 128 > rows[2][1][1])
    assert page.evaluate("document.querySelector('.tree').dataset.mark") == "same page"
    return {"said": said, "slate": slate}


def expire(page, stage):
    """A login that has ended, or whose cookie is gone, asks for the token again; logging out ends it. Answers that come late
    neither empty what is typed nor end the next login."""
    expect = page.expect
    token, heading = page.get_by_label("Admin token"), page.get_by_role("heading", level=1)

    late = []
    page.route("**/v1/sessions?late=*", lambda route: late.append((route, route.fetch())))

    def answer():
        route, response = late.pop()
        assert response.status == 401
        route.fulfill(response=response)
        page.wait_for_timeout(200)

    def log_in_again():
        expect(token).to_be_visible()
        page.evaluate("""async () => {
            const { ask } = await import("/console/api.js");
            for (const number of [0, 1]) ask("GET", "/v1/sessions?late=" + number).catch(() => {});
        }""")
        while len(late) < 2:
            page.wait_for_timeout(20)
        token.fill(TOKEN)
        answer()
        page.get_by_role("button", name="Log in").click()
        # The address is still that of the session.
        expect(heading).to_contain_text("camera")
        answer()
        expect(heading).to_contain_text("camera")

    # Ended at the service, as after twelve hours: the browser still has the cookie.
    cookies = page.context.cookies()
    value = {"Cookie": "; ".join("%(name)s=%(value)s" % one for one in cookies), "X-Upright-Console": "1"}
    urllib.request.urlopen(urllib.request.Request(stage.url + "/v1/login", method="DELETE", headers=value)).read()
    log_in_again()
    assert page.context.cookies() != cookies
    page.context.clear_cookies()
    log_in_again()
    page.get_by_role("button", name="Log out").click()
    expect(token).to_be_visible()
    page.reload()
    expect(token).to_be_visible()
    assert page.context.cookies() == []


SCENES = (log_in, open_session, turn, lock, focus, use_phone, first_run, make_session, edit_policy, walk, lose, expire)


def main(scenes=SCENES, settings=None, flags=(), publishes=True):
    """Plays scenes, with a publisher to the session "camera" unless `publishes` is false. `settings` are variables of the service's
    environment, `flags` arguments of Chromium."""
    browser = next(filter(None, map(shutil.which, chromium_play.BROWSERS)), None)
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        browser = None
    if not browser or not shutil.which("ffmpeg"):
        print(json.dumps({"error": "Chromium, ffmpeg or Playwright is missing"}))
        return MISSING
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: sys.exit(FAILED))
    upright, folder = sys.argv[1:3]
    result = {"error": None, "scenes": {}}
    stage = Stage(upright, folder, settings)
    name, faults = "start", []
    try:
        if publishes:
            stage.publish("camera")
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=browser, args=["--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server", "--mute-audio", *flags])
            page = chromium.new_page(viewport={"width": 1280, "height": 1000})
            page.expect = expect
            # On a busy machine.
            expect.set_options(timeout=60000)
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("console", lambda message: "Content Security" in message.text and faults.append(message.text))
            for scene in scenes:
                name, start = scene.__name__, time.monotonic()
                try:
                    result["scenes"][name] = scene(page, stage) or round(time.monotonic() - start, 1)
                except BaseException:
                    page.screenshot(path=os.path.join(folder, name + ".png"))
                    raise
                assert not faults, faults
            chromium.close()
    except Exception:
        stage.log.flush()
        with open(stage.log.name, errors="replace") as log:
            result.update(error="%s: %s" % (name, traceback.format_exc()[-1500:]), faults=faults, log=log.read()[-1500:])
    finally:
        stage.stop()
    print(json.dumps(result))
    return FAILED if result["error"] else DONE


if __name__ == "__main__":
    sys.exit(main())
