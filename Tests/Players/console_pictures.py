#!/usr/bin/env python3
"""Takes pictures of the console, with the sample as its session.

    console_pictures.py UPRIGHT FILE.png         the session's page, for the README
    console_pictures.py UPRIGHT FOLDER --all     every view at 360, 768 and 1440 pixels, light and dark, and what is wrong with
                                                 its accessibility (console_access.py), and whether the page is wider than the window

With --all it prints one JSON object: {VIEW: {"contrast": [texts], "faults": [of the focus], "controls": [in its order], "wide": [widths]}}.
"""

import json
import os
import shutil
import sys
import tempfile

import chromium_play
import console_access
import console_stage

def log_in(page, stage):
    page.goto(stage.url)
    page.get_by_label("Admin token").fill(console_stage.TOKEN)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Sessions").wait_for()


def play_sample(page, stage):
    """Opens the sample's page, until the phone that it shows is turned to the left for the second time."""
    stage.ask("POST", "/v1/sample")
    page.goto(stage.url + "/#/sessions/sample")
    page.get_by_text("Phone upright: the picture turns to portrait").first.wait_for(timeout=40000)
    newest = page.get_by_label("Timeline, newest first").get_by_role("listitem").filter(has_text="Phone").first
    newest.filter(has_text="Phone turned left: the picture turns").wait_for(timeout=60000)
    console_stage.wait(page, "(video => video.videoWidth > video.videoHeight)(document.querySelector('.stage video'))")
    page.wait_for_timeout(1500)


def view(page, stage, name):
    if name == "phone":
        page.goto(stage.ask("POST", "/v1/sessions/sample/sensor-url", {"seconds": 600})["url"])
    elif name == "share":
        page.keyboard.press("Escape")
        page.goto(stage.url + "/#/sessions/sample")
        page.get_by_role("button", name="Use this phone").click()
        page.get_by_role("img", name="QR code of the link").wait_for()
    elif name == "login":
        page.goto(stage.url)
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Admin token").wait_for()
    else:
        page.goto(stage.url + {"list": "/#/", "session": "/#/sessions/sample", "policy": "/#/policy"}[name])
    page.wait_for_timeout(2500)


def take_all(chromium, stage, folder):
    os.makedirs(folder, exist_ok=True)
    result = {}
    for scheme in ("light", "dark"):
        page = chromium.new_page(color_scheme=scheme)
        log_in(page, stage)
        play_sample(page, stage)
        for name in ("session", "list", "policy", "share", "phone", "login"):
            found = result.setdefault(name, {"contrast": [], "faults": [], "controls": [], "wide": []})
            for width in (360, 768, 1440):
                page.set_viewport_size({"width": width, "height": 800})
                if name != "login" or width == 360:
                    view(page, stage, name)
                page.wait_for_timeout(300)
                page.screenshot(path=os.path.join(folder, "%s-%d-%s.png" % (name, width, scheme)), full_page=name != "share")
                found["contrast"] = sorted({*found["contrast"], *console_access.contrast(page, [scheme])})
                page.emulate_media(color_scheme=scheme)
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    found["wide"].append(width)
            if scheme == "light" and name != "share":
                found["controls"], found["faults"] = console_access.walk(page)
        page.close()
    return result


def main():
    from playwright.sync_api import sync_playwright
    browser = next(filter(None, map(shutil.which, chromium_play.BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        stage = console_stage.Stage(sys.argv[1], folder)
        try:
            chromium = playwright.chromium.launch(
                executable_path=browser, args=["--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server", "--mute-audio"])
            if "--all" in sys.argv:
                print(json.dumps(take_all(chromium, stage, sys.argv[2]), indent=1))
            else:
                page = chromium.new_page(viewport={"width": 1280, "height": 940})
                log_in(page, stage)
                play_sample(page, stage)
                page.screenshot(path=sys.argv[2], full_page=True)
            chromium.close()
        finally:
            stage.stop()


if __name__ == "__main__":
    main()
