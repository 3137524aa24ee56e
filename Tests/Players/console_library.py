#!/usr/bin/env python3
"""Uses the library of the console of `upright serve`: finds a file in it, plays it upright, and seeks.

    console_library.py UPRIGHT FOLDER

Prints one JSON object: {"error": null, "scenes": {NAME: seconds, or what it measured}}. Times are in seconds.
Exit code: 0 done, 1 not, 77 Chromium, ffmpeg or Playwright is missing.
"""

import os
import shutil
import subprocess
import sys
import time

import console_stage
from console_edges import log_in
from console_stage import HEADER, reach, wait, wait_for_pixels

# Upright, the first ten seconds are red above blue, and the others lime above yellow.
CLIP = """color=%s:s=180x160:r=25:d=10[a];color=%s:s=180x160:r=25:d=10[b];[a][b]vstack[first];
color=%s:s=180x160:r=25:d=10[c];color=%s:s=180x160:r=25:d=10[d];[c][d]vstack[second];
[first][second]concat,format=yuv420p,transpose=cclock"""
FIRST, SECOND = ("red", "blue"), ("lime", "yellow")
COLOURS = {"red": (255, 0, 0), "blue": (0, 0, 255), "lime": (0, 255, 0), "yellow": (255, 255, 0)}
COPIES = 13


def make_library(folder):
    """A clip that is stored sideways, copies of it, and what isn't a clip."""
    path = os.path.join(folder, "library")
    os.makedirs(os.path.join(path, "more"))
    clip = os.path.join(path, "sideways.mp4")
    lying = os.path.join(folder, "lying.mp4")
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-filter_complex", CLIP % (FIRST + SECOND), "-c:v", "libx264", "-g", "25", lying],
                   check=True)
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", lying, "-c", "copy", "-metadata:s:v", "rotate=270", clip], check=True)
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", clip, "-t", "2", "-c:v", "libx265", "-preset", "ultrafast",
                    "-tag:v", "hvc1", "-x265-params", "log-level=none", os.path.join(path, "upright in hevc.mp4")], check=True)
    for index in range(COPIES):
        shutil.copy(clip, os.path.join(path, "more", "copy %d.mp4" % index))
    with open(os.path.join(path, "broken.mp4"), "wb") as broken:
        broken.write(bytes(4096))
    return path


def near(pixel, name):
    return all(abs(one - other) < 80 for one, other in zip(pixel, COLOURS[name]))


def shows(above, below):
    """Whether the rows of a frame have these colours."""
    return lambda rows: (all(near(pixel, above) for pixel in rows[1]) and all(near(pixel, below) for pixel in rows[6]))


def find(page, stage):
    """The list names each file and what is wrong with one; a word finds a few of them."""
    expect = page.expect
    log_in(page, stage)
    page.get_by_role("link", name="Library").click()
    cards = page.locator(".card")
    expect(cards).to_have_count(COPIES + 3)
    expect(page.get_by_role("status")).to_have_text("%d files" % (COPIES + 3))
    expect(cards.filter(has_text="sideways.mp4")).to_contain_text("180x320, 0:20")
    expect(cards.filter(has_text="sideways.mp4")).to_contain_text("stored turned")
    broken = cards.filter(has_text="broken.mp4")
    expect(broken.locator(".reason")).not_to_be_empty()
    assert broken.get_by_role("link").count() == 0
    wait(page, "document.querySelector('.card a[href] img').naturalHeight > document.querySelector('.card a[href] img').naturalWidth")
    field = page.get_by_label("Find a file")
    field.fill("COPY 1")
    expect(cards).to_have_count(4)
    field.fill("nothing")
    expect(page.get_by_role("status")).to_have_text("No file has this in its path.")
    field.fill("side")
    expect(cards).to_have_count(1)


def plays(page, stage):
    """A file plays upright; the place that the bar is moved to is shown, and its small picture before."""
    expect = page.expect
    start = time.monotonic()
    page.get_by_role("link", name="sideways.mp4").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("sideways.mp4")
    times = {"first": wait_for_pixels(page, shows(*FIRST)), "page": round(time.monotonic() - start, 2)}
    wait(page, "document.querySelector('video').videoHeight === 320 && document.querySelector('video').duration === 20")
    bar = page.get_by_role("slider", name="Position")
    box = bar.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    wait(page, "!document.querySelector('.seek canvas').hidden")
    small = page.evaluate("""() => {
      const canvas = document.querySelector(".seek canvas"), { width, height } = canvas;
      const at = y => [...canvas.getContext("2d").getImageData(width / 2, height * y, 1, 1).data].slice(0, 3);
      return { width, height, above: at(0.2), below: at(0.8) };
    }""")
    assert small["height"] > small["width"] and near(small["above"], SECOND[0]) and near(small["below"], SECOND[1]), small
    page.mouse.move(0, 0)
    page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    times["second"] = wait_for_pixels(page, shows(*SECOND))
    assert 15 < page.evaluate("document.querySelector('video').currentTime") < 20
    bar.press("Home")
    times["back"] = wait_for_pixels(page, shows(*FIRST))
    bar.press("End")
    wait(page, "document.querySelector('video').ended")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    return times


def keys(page, stage):
    """The keyboard alone reaches everything, and plays again."""
    apart = ("button Picture in picture",) if page.evaluate("document.pictureInPictureEnabled") else ()
    reach(page, *HEADER, "link All files", "button Play", "slider Position", "button Sound", "slider Volume", *apart, "button Full screen")
    page.get_by_role("button", name="Play", exact=True).press("Enter")
    wait(page, "!document.querySelector('video').paused && document.querySelector('video').currentTime < 15")
    page.get_by_role("link", name="All files").press("Enter")
    page.expect(page.get_by_role("heading", name="Library")).to_be_visible()


def other(page, stage):
    """A file that could be copied, in a codec that Chromium doesn't have, plays in H.264."""
    page.get_by_role("link", name="upright in hevc.mp4").click()
    seconds = wait_for_pixels(page, shows(*FIRST))
    wait(page, "document.querySelector('video').videoHeight === 320")
    return seconds


if __name__ == "__main__":
    sys.exit(console_stage.main(
        (find, plays, keys, other), settings={"UPRIGHT_LIBRARY": make_library(sys.argv[2])}, publishes=False))
