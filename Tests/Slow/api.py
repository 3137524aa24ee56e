#!/usr/bin/env python3
"""Tests the HTTP API from its description alone: schemathesis finds no response that /openapi.yaml doesn't describe,
and openapi-python-client generates a client without a warning, which then drives an app's whole life.

    api.py              300 examples for each operation, about 3 minutes
    SHORT=1 api.py      30 examples, about 40 seconds

Both programs are installed into .build/api-python. The client is generated into a temporary folder.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../Benchmarks"))

from live_service import running  # noqa: E402

PACKAGES = ("schemathesis==4.32.5", "openapi-python-client==0.29.1")
PYTHON = os.path.join(running.ROOT, ".build/api-python/bin")
# CI tries the same requests in every run: a finding is caused by the change.
SEED = ["--seed", "1"] if os.environ.get("CI") else []
EXAMPLES = 30 if os.environ.get("SHORT") == "1" else 300


def install():
    """Creates the Python environment, unless it has these versions already."""
    mark = os.path.join(PYTHON, "../packages")
    wanted = "\n".join(PACKAGES)
    if os.path.exists(mark) and open(mark).read() == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", os.path.dirname(PYTHON)], check=True)
    subprocess.run(
        [f"{PYTHON}/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
        check=True)
    with open(mark, "w") as file:
        file.write(wanted)


def run(*arguments, **more):
    """Runs a program of the environment. Returns its exit status and what it printed."""
    done = subprocess.run(
        [f"{PYTHON}/{arguments[0]}", *arguments[1:]], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PATH": f"{PYTHON}:{os.environ['PATH']}",
             "UPRIGHT_TOKEN": running.TOKEN, "NO_COLOR": "1"}, **more)
    return done.returncode, done.stdout


def explore(service, clip, folder):
    """Runs schemathesis against a service with a live session and two that have ended."""
    for name in ("stage", "over", "past"):
        service.session(
            name, [{"type": "hls"}], options={"size": "320x180", "speed": "ultrafast"})
    service.delete("over")
    service.delete("past")
    publisher = running.Publisher(clip, service.address("stage"), loops=-1)
    try:
        playlist = "/live/stage/index.m3u8"
        if not running.until(lambda: service.get(playlist)[0] == 200, 30):
            raise SystemExit("api: nothing is live: " + service.logged())
        status, said = run(
            "schemathesis", "--no-color", "--config-file", f"{HERE}/schemathesis.toml", "run",
            f"http://127.0.0.1:{service.http}/openapi.yaml", "--max-examples", str(EXAMPLES),
            "--continue-on-failure", *SEED, cwd=folder, timeout=1800)
        if service.state("stage")["state"] != "live":
            status, said = 1, said + f"\nthe live session was disturbed: {service.state('stage')}"
    finally:
        publisher.kill()
    found = re.search(r"^ *(\d+) generated.*$", said, re.M)
    print(f"api: schemathesis: {found.group(0).strip() if found else 'no result'}")
    return [said] if status != 0 or not found else []


def generate(service, folder):
    """Generates a client. Returns warnings, of which there must be none."""
    status, said = run(
        "openapi-python-client", "generate", "--url",
        f"http://127.0.0.1:{service.http}/openapi.yaml", "--meta", "none",
        "--config", f"{HERE}/openapi-client.yaml", "--output-path", f"{folder}/upright_client",
        timeout=300)
    lines = [line for line in said.splitlines() if line and not line.startswith("Generating ")]
    return ["openapi-python-client: " + "\n".join(lines)] if status != 0 or lines else []


def live(service, clip, folder):
    """Drives an app's life with the generated client."""
    status, said = run(
        "python", f"{HERE}/api_client.py", f"http://127.0.0.1:{service.http}",
        str(running.free_port()), clip, cwd=folder, timeout=120)
    print("".join(f"api: client: {line}\n" for line in said.splitlines()), end="")
    return [f"the generated client ended with {status}"] if status != 0 else []


def main():
    install()
    # The receiver of the webhook that the description has as its example. Nothing is sent there.
    os.environ["UPRIGHT_ALLOW_HOSTS"] = "example.com"
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        clip = running.clip(folder, 20, size="320x180", keyframes=1)
        for step in (explore, generate, live):
            with running.Service(folder) as service:
                if step is generate:
                    faults += generate(service, folder)
                else:
                    faults += step(service, clip, folder)
                faults += service.faults()
    running.conclude("api", faults)


if __name__ == "__main__":
    main()
