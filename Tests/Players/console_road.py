#!/usr/bin/env python3
"""A newcomer's road through the console of `upright serve`, from an empty service to a downloaded recording, with the pointer and then
with the keyboard alone.

    console_road.py UPRIGHT FOLDER

Each step is counted: seconds, and clicks or keys. What is typed into a field counts as one. Programs publish with what the page
shows, unchanged: ffmpeg in the place of OBS with server and key, ffmpeg with the command for SRT, and a WHIP client.

Prints one JSON object: {"error": null, "scenes": {NAME: {STEP: [seconds, actions]}}}.
Exit code: 0 done, 1 not, 77 Chromium, ffmpeg, Janus or Playwright is missing.
"""

import shutil
import socket
import subprocess
import sys
import time

import chromium_play
import console_phone
import console_stage
from console_stage import TOKEN, wait

# The phone's camera for Chromium: a file in place of the drawn one.
FAKE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
# A WHIP client (RFC 9725) with a drawn camera, as short as it can be. Returns the status of the answer.
WHIP = """async ([server, key]) => {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 360 }, audio: true });
  const peer = window.peer = new RTCPeerConnection();
  for (const track of stream.getTracks()) peer.addTransceiver(track, { direction: "sendonly", streams: [stream] });
  await peer.setLocalDescription();
  while (peer.iceGatheringState !== "complete") await new Promise(done => setTimeout(done, 50));
  const answer = await fetch(server, {
    method: "POST", body: peer.localDescription.sdp, headers: { Authorization: "Bearer " + key, "Content-Type": "application/sdp" }
  });
  if (answer.ok) await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  return answer.status;
}"""


class Hand:
    """The pointer, or the keyboard alone. Counts what it does."""

    def __init__(self, page, has_pointer):
        self.page, self.has_pointer, self.steps = page, has_pointer, {}
        self.begin()

    def begin(self):
        self.count, self.start = 0, time.monotonic()

    def end(self, step):
        self.steps[step] = [round(time.monotonic() - self.start, 1), self.count]
        self.begin()

    def key(self, name):
        self.page.keyboard.press(name)
        self.count += 1

    def reach(self, control):
        """Moves the focus to a control."""
        self.page.expect(control).to_be_visible()
        for _ in range(120):
            if control.evaluate("one => one === document.activeElement"):
                return
            self.key("Tab")
        raise AssertionError("the keyboard doesn't reach %s" % control)

    def press(self, control, key="Enter"):
        if self.has_pointer:
            control.click()
            self.count += 1
        else:
            self.reach(control)
            self.key(key)

    def type(self, control, text):
        if self.has_pointer:
            control.click()
            control.fill(text)
            self.count += 2
        else:
            self.reach(control)
            self.key("Control+a")
            self.page.keyboard.insert_text(text)
            self.count += 1

    def choose(self, control, text):
        """Chooses what begins with `text` in a list."""
        if self.has_pointer:
            control.select_option(label=[one for one in control.locator("option").all_inner_texts() if one.startswith(text)][0])
            self.count += 2
        else:
            self.reach(control)
            self.page.keyboard.type(text)
            self.count += 1


def log_in(page, stage, hand):
    page.goto(stage.url)
    hand.begin()
    hand.type(page.get_by_label("Admin token"), TOKEN)
    hand.key("Enter")
    page.expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    hand.end("log in")


def publish_as_obs(page, stage, name):
    """Starts what OBS does with the two fields."""
    server, key = (page.get_by_label(title, exact=True).input_value() for title in ("Server", "Stream key"))
    return subprocess.Popen(
        ["ffmpeg", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", console_stage.CAMERA, "-re", "-f", "lavfi", "-i", "sine",
         "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-g", "50", "-pix_fmt", "yuv420p", "-c:a", "aac", "-f", "flv",
         server + "/" + key], stdin=subprocess.DEVNULL, preexec_fn=chromium_play.die_with_parent)


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def end(process):
    process.kill()
    process.wait()


def road(page, stage, has_pointer):
    expect = page.expect
    name = "show-%s" % ("pointer" if has_pointer else "keys")
    hand = Hand(page, has_pointer)
    log_in(page, stage, hand)
    button = lambda text: page.get_by_role("button", name=text)
    hand.press(page.get_by_role("link", name="New session"))
    hand.type(page.get_by_label("Name", exact=True), name)
    # The standard port is another program's on a machine that runs tests.
    hand.type(page.get_by_label("Port"), str(stage.rtmp))
    hand.press(page.get_by_label("Record to a file"), "Space")
    hand.press(button("Make the session"))
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text(name + " waiting")
    hand.end("make a session")
    hand.press(button("Copy: Server"))
    hand.press(button("Copy: Stream key"))
    hand.end("copy server and key")
    publisher = publish_as_obs(page, stage, name)
    try:
        wait(page, "document.querySelector('.stage video')?.currentTime > 0.2")
        expect(heading).to_contain_text(name + " live")
        hand.end("publish as OBS until the preview plays")
        is_wide = "(video => video.videoWidth > video.videoHeight)(document.querySelector('.stage video'))"
        wait(page, is_wide)
        if has_pointer:
            hand.press(page.get_by_role("radio", name="upright", exact=True))
        else:
            hand.reach(page.get_by_role("slider", name="Drawn phone"))
            hand.key("ArrowRight")
        wait(page, "!" + is_wide)
        hand.end("turn")
        hand.type(page.get_by_label("Name of the file"), "second.mp4")
        hand.press(button("Add output"))
        stop = button("Stop Recording (file-2)")
        expect(stop.locator("xpath=ancestor::li")).to_contain_text("sending")
        hand.end("add an output")
        page.wait_for_timeout(1500)
        hand.begin()
        hand.press(stop)
        expect(button("Start Recording (file-2)")).to_be_visible()
        link = page.get_by_role("link", name="Download second.mp4")
        expect(link).to_be_visible()
        with page.expect_download() as download:
            hand.press(link)
        kinds = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", download.value.path()],
                               capture_output=True, text=True, check=True).stdout.split()
        assert sorted(kinds) == ["audio", "video"], kinds
        hand.end("download a recording")
    finally:
        end(publisher)
    page.once("dialog", lambda dialog: dialog.accept())
    hand.press(button("Stop session"))
    hand.press(button("Delete session"))
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    hand.end("stop and delete the session")
    phone_road(page, stage, hand)
    hand.press(button("Log out"))
    expect(page.get_by_label("Admin token")).to_be_visible()
    hand.steps["all"] = [round(sum(time for time, _ in hand.steps.values()), 1), sum(count for _, count in hand.steps.values())]
    return hand.steps


def phone_road(page, stage, hand):
    """A phone's browser publishes, and turns."""
    expect = page.expect
    hand.press(page.get_by_role("button", name="Publish from a phone"))
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("phone waiting")
    hand.press(page.get_by_role("button", name="Use this phone"))
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img", name="QR code of the link")).to_be_visible()
    link = dialog.get_by_role("link").get_attribute("href")
    hand.press(dialog.get_by_role("button", name="Close"))
    hand.end("a phone's link")
    context = page.context.browser.new_context(viewport={"width": 390, "height": 780})
    try:
        context.add_init_script(console_phone.HELD)
        phone = context.new_page()
        phone.goto(link)
        phone.get_by_role("button", name="Start publishing").click()
        hand.count += 1
        expect(phone.get_by_role("status")).to_have_text("You are live.")
        expect(heading).to_contain_text("phone live")
        wait(page, "document.querySelector('.stage video')?.currentTime > 0.2")
        hand.end("publish from the phone until the preview plays")
        phone.evaluate("window.held = 90")
        expect(page.get_by_role("slider", name="Drawn phone")).to_have_attribute("aria-valuetext", "upright")
        wait(page, "(video => video.videoWidth < video.videoHeight)(document.querySelector('.stage video'))")
        hand.end("turn the phone")
    finally:
        context.close()
    stage.forget("phone")
    hand.press(page.get_by_role("link", name="Sessions", exact=True))
    hand.begin()


def with_pointer(page, stage):
    return road(page, stage, True)


def with_keys(page, stage):
    return road(page, stage, False)


def copied_fields(page, stage):
    """SRT and WHIP are published with the fields of the page, unchanged."""
    expect = page.expect
    hand = Hand(page, True)
    log_in(page, stage, hand)
    port = free_udp_port()
    heading = page.get_by_role("heading", level=1)
    for passphrase in ("", "a-secret-passphrase"):
        page.goto(stage.url + "/#/new")
        page.reload()
        name = "srt-secret" if passphrase else "srt"
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("It comes from").select_option("srt")
        page.get_by_label("Port").fill(str(port))
        page.get_by_label("Passphrase").fill(passphrase)
        page.get_by_role("button", name="Make the session").click()
        expect(heading).to_contain_text(name + " waiting")
        command = page.get_by_label("Command", exact=True).input_value()
        subprocess.run(["ffmpeg", "-nostdin", "-y", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25", "-f", "lavfi", "-i", "sine", "-t", "60",
                        "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "clip.mp4"], cwd=stage.folder, check=True)
        hand.begin()
        publisher = subprocess.Popen(command.replace("ffmpeg ", "exec ffmpeg -nostdin -v error ", 1), shell=True, cwd=stage.folder,
                                     preexec_fn=chromium_play.die_with_parent)
        try:
            expect(heading).to_contain_text(name + " live")
            wait(page, "document.querySelector('.stage video')?.currentTime > 0.2")
            hand.end(name)
            counters = stage.ask("GET", "/v1/sessions/" + name)["counters"]
            assert counters["packetsLost"] == 0, counters
            # Once there are two: -g 60 of 25 frames a second.
            expect(page.locator(".chart").filter(has_text="Keyframes")).to_contain_text("2.4 s")
        finally:
            end(publisher)
        stage.forget(name)
    page.goto(stage.url + "/#/new")
    page.get_by_label("Name", exact=True).fill("whip")
    page.get_by_label("It comes from").select_option("whip")
    page.get_by_role("button", name="Make the session").click()
    expect(heading).to_contain_text("whip waiting")
    fields = [page.get_by_label(title, exact=True).input_value() for title in ("Server", "Bearer token")]
    context = page.context.browser.new_context()
    try:
        client = context.new_page()
        client.goto(stage.url + "/healthz")
        hand.begin()
        assert client.evaluate(WHIP, fields) == 201
        expect(heading).to_contain_text("whip live")
        wait(page, "document.querySelector('.stage video')?.currentTime > 0.2")
        hand.end("whip")
    finally:
        context.close()
    stage.forget("whip")
    return {step: hand.steps[step] for step in ("srt", "srt-secret", "whip")}


SCENES = (with_pointer, with_keys, copied_fields)

if __name__ == "__main__":
    if not shutil.which("janus"):
        print('{"error": "Janus is missing"}')
        sys.exit(console_stage.MISSING)
    sys.exit(console_stage.main(SCENES, {"UPRIGHT_WEBRTC": "auto"}, FAKE, publishes=False))
