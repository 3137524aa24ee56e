#!/usr/bin/env python3
"""Uses the console of `upright serve` with a phone that publishes by WHIP, through Janus, and turns.

    console_phone.py UPRIGHT FOLDER

Starts Janus and `UPRIGHT serve --data FOLDER` in a network namespace, and headless Chromium with two contexts: the console, and
the page that its link opens, whose camera is Chromium's fake one. First the phone's frames say how they are turned (CVO). Then a
phone whose browser has no CVO, as Firefox, sends the gravity of its motion sensor.

Prints one JSON object: {"error": null, "turns": {ROTATION: seconds until the console's preview shows it}, "gravity": seconds}.
Exit code: 0 done, 1 not, 77 Janus, Chromium, ffmpeg, Playwright or a network namespace is missing. Needs root.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import chromium_play
import console_access
import console_stage
import lossy_network
import webrtc_stage

DONE, FAILED, MISSING = 0, 1, 77

# The frames of the camera get a rotation: that of a sensor in a phone which is held in another way.
HELD = """(() => {
  window.held = 0;
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async constraints => {
    const stream = await open(constraints), turned = new MediaStreamTrackGenerator({ kind: "video" });
    const turn = new TransformStream({
      transform(frame, next) {
        next.enqueue(new VideoFrame(frame, { rotation: window.held }));
        frame.close();
      }
    });
    new MediaStreamTrackProcessor({ track: stream.getVideoTracks()[0] }).readable.pipeThrough(turn).pipeTo(turned.writable);
    return new MediaStream([turned, ...stream.getAudioTracks()]);
  };
})()"""

# A browser that offers no CVO.
PLAIN = """(() => {
  const add = RTCPeerConnection.prototype.addTransceiver;
  RTCPeerConnection.prototype.addTransceiver = function (...parameters) {
    const transceiver = add.apply(this, parameters);
    const extensions = transceiver.getHeaderExtensionsToNegotiate();
    for (const one of extensions) if (one.uri === "urn:3gpp:video-orientation") one.direction = "stopped";
    transceiver.setHeaderExtensionsToNegotiate(extensions);
    return transceiver;
  };
})()"""


def link(console):
    """Returns the link of the dialog "Use this phone"."""
    console.get_by_role("button", name="Use this phone").click()
    dialog = console.get_by_role("dialog")
    console.expect(dialog.get_by_role("img", name="QR code of the link")).to_be_visible()
    address = dialog.get_by_role("link").get_attribute("href")
    assert "/publish/phone#" in address and webrtc_stage.TOKEN not in address, address
    dialog.get_by_role("button", name="Close").click()
    return address


def open_phone(browser, console, script, has_sensor=False):
    """Opens the link in another context, and publishes. Returns the page, and its motion sensor if it has one."""
    context = browser.new_context(viewport={"width": 360, "height": 740})
    context.add_init_script(script)
    phone = context.new_page()
    # Before the page looks for it.
    sensor = console_stage.MotionSensor(phone) if has_sensor else None
    phone.goto(link(console))
    status = phone.get_by_role("status")
    console.expect(status).to_have_text("Ready. Nobody sees the camera until you start.")
    assert "#" not in phone.url and context.cookies() == []
    phone.get_by_role("button", name="Start publishing").click()
    console.expect(status).to_have_text("You are live.")
    console.expect(console.get_by_role("heading", level=1)).to_contain_text("phone live")
    return phone, sensor


def leave(console, phone):
    phone.get_by_role("button", name="Stop publishing").click()
    console.expect(phone.get_by_role("status")).to_have_text("You are not live.")
    console.expect(console.get_by_role("heading", level=1)).to_contain_text("phone stream lost")
    phone.context.close()


def seen(console, corner, is_wide, body):
    """Returns the seconds from the key that is pressed before `body` until the preview shows the white quarter in this corner."""
    console.evaluate(console_stage.WATCH, [corner, is_wide])
    console.keyboard.press("Shift")
    body()
    return round(console.evaluate("Promise.race([seen, new Promise(done => setTimeout(done, 9000, 9999))])") / 1000, 2)


def play(browser, console, stage, result):
    expect = console.expect
    console.goto("http://127.0.0.1:%d" % stage.port)
    console.get_by_label("Admin token").fill(webrtc_stage.TOKEN)
    console.keyboard.press("Enter")
    console.get_by_role("button", name="Publish from a phone").click()
    expect(console.get_by_role("heading", level=1)).to_contain_text("phone waiting")
    phone, _ = open_phone(browser, console, HELD)
    faults = console_access.contrast(phone) + console_access.walk(phone)[1]
    assert not faults, faults
    drawn = console.get_by_role("slider", name="Drawn phone")
    # The camera is landscape. Its frames are upright when the phone is held in landscape left.
    expect(drawn).to_have_attribute("aria-valuetext", "turned left")
    console_stage.wait(console, "document.querySelector('.stage video')?.currentTime > 1")
    turns = result["turns"] = {}
    for rotation, device, corner, is_wide in ((90, "upright", "topRight", False), (180, "turned right", "bottomRight", True),
                                              (0, "turned left", "topLeft", True)):
        turns[rotation] = seen(console, corner, is_wide, lambda: phone.evaluate("window.held = %d" % rotation))
        expect(drawn).to_have_attribute("aria-valuetext", device)
        expect(console.get_by_label("Timeline, newest first").get_by_role("listitem").filter(
            has_text="Phone %s: the picture turns" % device).first).to_be_visible()
    leave(console, phone)
    phone, sensor = open_phone(browser, console, PLAIN, has_sensor=True)
    sensor.turn(console, "upright", 0, 9.81, 0)
    # A landscape frame on a portrait canvas.
    console_stage.wait(console, "(video => video.videoWidth < video.videoHeight)(document.querySelector('.stage video'))")
    result["gravity"] = seen(console, "topLeft", True, lambda: sensor.turn(console, "turned left", 9.81, 0, 0))
    expect(phone.locator("#held")).to_have_text("on its left side")
    leave(console, phone)


def main():
    browser = next(filter(None, map(shutil.which, chromium_play.BROWSERS)), None)
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        browser = None
    missing = None if browser and shutil.which("ffmpeg") and shutil.which("janus") else "Janus, Chromium, ffmpeg or Playwright"
    if not missing:
        try:
            network = lossy_network.Network()
        except (OSError, subprocess.CalledProcessError):
            missing = "a network namespace, or TUN,"
    if missing:
        print(json.dumps({"error": missing + " is missing"}))
        return MISSING
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: sys.exit(FAILED))
    result = {"error": None}
    with tempfile.TemporaryDirectory(prefix="upright-stage-") as scratch:
        stage = webrtc_stage.Stage(sys.argv[1], os.path.abspath(sys.argv[2]), scratch, network)
        try:
            camera = os.path.join(scratch, "camera.y4m")
            subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", console_stage.CAMERA, "-t", "1", "-pix_fmt", "yuv420p",
                            camera], check=True)
            stage.start_janus()
            stage.start_service()
            with sync_playwright() as playwright:
                chromium = playwright.chromium.launch(executable_path=browser, args=[
                    "--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server", "--mute-audio", *webrtc_stage.FAKE,
                    "--use-file-for-fake-video-capture=" + camera])
                console = chromium.new_page(viewport={"width": 1280, "height": 1000})
                console.expect = expect
                # On a busy machine.
                expect.set_options(timeout=60000)
                try:
                    play(chromium, console, stage, result)
                except BaseException:
                    for number, page in enumerate(page for context in chromium.contexts for page in context.pages):
                        page.screenshot(path=os.path.join(stage.folder, "page-%d.png" % number))
                    raise
                chromium.close()
        except Exception:
            with open(os.path.join(scratch, "serve.log"), errors="replace") as log:
                result.update(error=traceback.format_exc()[-1500:], log=log.read()[-1500:])
        finally:
            stage.stop()
    print(json.dumps(result))
    return FAILED if result["error"] else DONE


if __name__ == "__main__":
    sys.exit(main())
