#!/usr/bin/env python3
"""The life of one phone app's stream, as its backend drives it over HTTP: the app publishes, which creates its
session; see it go live, turn the phone, change the policy, push to an RTMP server for a while, record, download the
recording, and end.

    UPRIGHT_TOKEN=... upright serve --config Samples/live/app.json
    UPRIGHT_TOKEN=... Samples/live/app_life.py [CLIP]

CLIP stands for the phone: ffmpeg publishes it. A second session stands for the RTMP server of somebody else. The
recording is downloaded to the current folder. UPRIGHT_URL is the service (default http://127.0.0.1:8080), RTMP_PORT
the port of app.json.
"""
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
URL = os.environ.get("UPRIGHT_URL", "http://127.0.0.1:8080")
RTMP = f"rtmp://127.0.0.1:{os.environ.get('RTMP_PORT', '1935')}"
NAME = f"app-{os.getpid()}"
KEY = "key-of-the-app"


def send(method, path, body=None):
    """Sends a request. Returns the response."""
    return urllib.request.urlopen(urllib.request.Request(
        URL + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + os.environ["UPRIGHT_TOKEN"],
                 "Content-Type": "application/json"}), timeout=30)


def ask(method, path, body=None):
    """Sends a request. Returns the JSON of the response, or exits with the service's reason."""
    try:
        with send(method, path, body) as response:
            return json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        sys.exit(f"{method} {path}: {error.code} {json.load(error)['detail']}")


def wait(what, condition, seconds=20):
    """Waits until the session or output that `condition` returns is there. Returns it."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        if found := condition():
            return found
        time.sleep(0.1)
    sys.exit(f"not {what} after {seconds} s: {ask('GET', '/v1/sessions')}")


def session_if(**members):
    """Returns the session if it exists and its members have these values."""
    for session in ask("GET", f"/v1/sessions?name={NAME}")["sessions"]:
        if session["id"] == NAME and all(session[key] == value for key, value in members.items()):
            return session
    return None


def live_session():
    """Returns the session if it is live and its first frame is encoded, so that its size is known."""
    session = session_if(state="live")
    return session if session and session["appOrientation"] else None


def output_if(output, frames):
    """Returns the output if it has written this many frames."""
    found = ask("GET", f"/v1/sessions/{NAME}/outputs/{output}")
    return found if found["frames"] >= frames else None


def recording_if():
    """Returns the session's recording if it is finished."""
    recordings = ask("GET", f"/v1/recordings?session={NAME}")["recordings"]
    return next((each for each in recordings if each["state"] == "finished"), None)


def main():
    clip = sys.argv[1] if len(sys.argv) > 1 else f"{ROOT}/Samples/clips/turning-sensor.mp4"
    here = f"/v1/sessions/{NAME}"
    server = f"{RTMP}/server/key-of-{NAME}"
    ask("POST", "/v1/sessions", {"name": NAME + "-server", "input": {"url": server}})
    phone = subprocess.Popen(
        ["ffmpeg", "-nostdin", "-v", "error", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy",
         "-f", "flv", f"{RTMP}/live/{NAME}?key={KEY}"], stdin=subprocess.DEVNULL)
    try:
        live = wait("live", live_session)
        print(f"{NAME} is live: {live['appOrientation']}, {live['encodeResolution']}")
        print(f"watch {live['outputs'][0]['url']}")

        answer = ask("POST", here + "/events", {"device": "landscapeLeft"})
        print(f"turned: {answer['decisions'][0]['to']}")
        wait("turned", lambda: session_if(appOrientation="landscapeRight"))

        change = ask("PATCH", here, {"policy": "portrait", "options": {"fit": "blur"}})
        print(f"changed the policy at {change['at']:.1f} s")
        wait("portrait again", lambda: session_if(appOrientation="portrait"))

        recording = ask("POST", here + "/outputs", {"type": "file", "name": "take.mp4"})["id"]
        push = ask("POST", here + "/outputs", {"type": "rtmp", "url": server})["id"]
        print(f"pushed: {wait('pushed', lambda: output_if(push, 30))['frames']} frames so far")
        print(f"stopped the push: {ask('POST', f'{here}/outputs/{push}/stop')['state']}")
        print(f"recorded: {wait('recorded', lambda: output_if(recording, 60))['frames']} frames so far")
        ask("DELETE", f"{here}/outputs/{recording}")
        take = wait("finished", recording_if)
        print(f"finished {take['name']}: {take['frames']} frames, {take['duration']:.1f} s")
        with send("GET", f"/v1/recordings/{take['id']}/file") as response, open(f"{NAME}.mp4", "wb") as file:
            shutil.copyfileobj(response, file)
        print(f"downloaded {NAME}.mp4: {os.path.getsize(f'{NAME}.mp4')} of {take['size']} bytes")
    finally:
        phone.terminate()
        phone.wait()
    ended = ask("DELETE", here)
    counters = ended["counters"]
    print(f"ended: {counters['framesIn']} frames in, {counters['framesOut']} out, "
          f"{counters['formatChanges']} changes of format, dropped {counters['dropped']}")
    ask("DELETE", here + "-server")


if __name__ == "__main__":
    main()
