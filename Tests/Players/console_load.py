#!/usr/bin/env python3
"""Measures the console with many sessions in its list.

    console_load.py UPRIGHT [--sessions N] [--seconds S] [--without S]

Starts N sessions (100) that repeat a small file, and measures the processor time of the service without the console, for as long as
--without says (S), then for S seconds (60) with its list open. Then it opens a session from the list and returns, several times, and
looks how long each click takes until it is painted. Needs Playwright, Debian's Chromium and ffmpeg.

Prints one JSON object: {"sessions", "live", "idle", "listed": parts of a core that the service uses without and with the list,
"heap": [megabytes of the page's memory, in intervals of a tenth of S], "paint": [milliseconds until the click is painted],
"load": [load averages of the machine at the start and at the end]}.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time

import chromium_play
import console_stage

OBSERVE = """() => {
  window.clicks = [];
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) if (entry.name === "click") window.clicks.push(entry.duration);
  }).observe({ type: "event", durationThreshold: 16 });
}"""


def processor(process):
    """Returns the processor time of a process, in seconds."""
    with open("/proc/%d/stat" % process.pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(process, seconds, step):
    """Returns the part of a core that a process uses. Calls `step` ten times meanwhile."""
    start, used = time.monotonic(), processor(process)
    for count in range(1, 11):
        time.sleep(max(0, start + seconds * count / 10 - time.monotonic()))
        step()
    return round((processor(process) - used) / (time.monotonic() - start), 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("upright", metavar="UPRIGHT")
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--without", type=float)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright
    browser = next(filter(None, map(shutil.which, chromium_play.BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["UPRIGHT_MAX_SESSIONS"] = str(options.sessions)
        stage = console_stage.Stage(options.upright, folder)
        try:
            subprocess.run(
                ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=128x72:r=2", "-t", "60", "-c:v", "libx264",
                 "-pix_fmt", "yuv420p", "-bf", "0", os.path.join(folder, "data", "small.mp4")], check=True)
            for number in range(options.sessions):
                stage.ask("POST", "/v1/sessions", {
                    "name": "session-%03d" % number, "input": {"url": "file:small.mp4", "repeat": True},
                    "options": {"size": "72x128", "speed": "ultrafast"}})
            time.sleep(10)
            load = [os.getloadavg()]
            idle = measure(stage.service, options.without or options.seconds, lambda: None)
            chromium = playwright.chromium.launch(
                executable_path=browser, args=["--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server", "--mute-audio"])
            page = chromium.new_page(viewport={"width": 1440, "height": 900})
            tools, heap = page.context.new_cdp_session(page), []
            tools.send("Performance.enable")

            def weigh():
                tools.send("HeapProfiler.collectGarbage")
                metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
                heap.append(round(metrics["JSHeapUsedSize"] / 1e6, 2))

            page.goto(stage.url)
            page.get_by_label("Admin token").fill(console_stage.TOKEN)
            page.keyboard.press("Enter")
            page.get_by_role("link", name="session-000").wait_for()
            page.wait_for_timeout(5000)
            listed = measure(stage.service, options.seconds, weigh)
            page.evaluate(OBSERVE)
            for number in range(0, min(10, options.sessions)):
                page.get_by_role("link", name="session-%03d" % number).click()
                page.get_by_role("heading", level=1, name="session-%03d" % number).wait_for()
                page.get_by_role("link", name="Sessions").click()
                page.get_by_role("link", name="session-%03d" % number).wait_for()
            page.wait_for_timeout(1000)
            states = [one["state"] for one in stage.ask("GET", "/v1/sessions")["sessions"]]
            print(json.dumps({"sessions": len(states), "live": states.count("live"), "idle": idle, "listed": listed, "heap": heap,
                              "paint": page.evaluate("clicks"), "load": load + [os.getloadavg()]}))
            chromium.close()
        finally:
            stage.stop()


if __name__ == "__main__":
    main()
