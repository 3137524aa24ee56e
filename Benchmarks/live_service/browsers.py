"""How far players are behind, as the browser tests of the service measure it: their long forms run, and print it."""
import json
import os
import re
import subprocess

from . import running

PROGRAM = os.path.join(running.ROOT, ".build/debug/upright-servicePackageTests.xctest")


def printed(test):
    """Runs a test and returns what it printed."""
    run = subprocess.run(
        [PROGRAM, "--testing-library", "swift-testing", "--no-parallel", "--filter", test], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=running.ROOT, env=os.environ | {"UPRIGHT_LOOP": "slow"})
    if run.returncode != 0:
        raise SystemExit(f"{test} failed:\n{run.stdout[-2000:]}")
    return run.stdout


def measure(_):
    said = printed("LowLatencyMediaTests/hlsJS")
    figures = re.search(r"hls\.js (\S*): median (\S+) s, p99 (\S+) s behind, (\d+) stalls", said)
    if figures is None:
        raise SystemExit(f"hls.js was skipped:\n{said[-2000:]}")
    scenes = re.search(r"console_stage\.py: (\{.*\})", printed("ConsoleBrowserTests/scenes"))
    turns = json.loads(scenes[1])["scenes"]["turn"].values() if scenes else []
    return {"hls.js": figures[1], "median": float(figures[2]), "p99": float(figures[3]), "stalls": int(figures[4]),
            "turns": sorted(turns)}
