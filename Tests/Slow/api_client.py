#!/usr/bin/env python3
"""The steps of Samples/live/app_life.py with the client that api.py generates, in the current folder.

    api_client.py URL RTMP_PORT CLIP
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.getcwd())

from upright_client import AuthenticatedClient, models  # noqa: E402
from upright_client.api.events import post_events  # noqa: E402
from upright_client.api.outputs import (  # noqa: E402
    add_output, get_output, list_outputs, remove_output, stop_output)
from upright_client.api.playback import get_live_file, sign_playback_url  # noqa: E402
from upright_client.api.recordings import (  # noqa: E402
    delete_recording, download_recording, list_recordings)
from upright_client.api.service import read_metrics  # noqa: E402
from upright_client.api.sessions import (  # noqa: E402
    change_session, create_session, end_session, get_session, list_sessions)
from upright_client.models import (  # noqa: E402
    Change, ChangeOptions, Event, FileOutput, HLSOutput, Options, PlaybackURLRequest, Problem, PushOutput,
    PushOutputType, SessionRequest, State, URLInput)

NAME = "app"
url, port, clip = sys.argv[1:]
client = AuthenticatedClient(
    url, token=os.environ["UPRIGHT_TOKEN"], raise_on_unexpected_status=True, timeout=30)


def ask(operation, *arguments, **more):
    """Calls an operation. Returns its parsed answer, which must not be a problem."""
    answer = operation.sync(*arguments, client=client, **more)
    if answer is None or isinstance(answer, Problem):
        sys.exit(f"{operation.__name__}: {answer}")
    return answer


def wait(what, condition, seconds=20):
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        if found := condition():
            return found
        time.sleep(0.1)
    sys.exit(f"not {what} after {seconds} s: {ask(get_session, NAME)}")


def session_if(condition):
    session = ask(get_session, NAME)
    return session if condition(session) else None


def output_if(output, frames):
    found = ask(get_output, NAME, output)
    return found if found.frames >= frames else None


def recording_if():
    recordings = ask(list_recordings, session=NAME).recordings
    return next((each for each in recordings if each.state.value == "finished"), None)


def main():
    address = f"rtmp://127.0.0.1:{port}/live/key-of-{NAME}"
    options = Options.from_dict(
        {"frames": "sensor", "size": "320x180", "speed": "ultrafast"})
    made = ask(create_session, body=SessionRequest(
        URLInput(address), name=NAME, outputs=[HLSOutput("hls")], policy="phone", options=options))
    print(f"created {made.id}")
    server = f"rtmp://127.0.0.1:{port}/server/key-of-{NAME}"
    ask(create_session, body=SessionRequest(URLInput(server), name=NAME + "-server"))
    page = ask(list_sessions, limit=1, state=[State.WAITING], name=NAME)
    assert [each.id for each in page.sessions] == [NAME] and page.next_, page
    rest = ask(list_sessions, limit=1, state=[State.WAITING], name=NAME, after=page.next_)
    assert [each.id for each in rest.sessions] == [NAME + "-server"] and not rest.next_, rest
    phone = subprocess.Popen(
        ["ffmpeg", "-nostdin", "-v", "error", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy",
         "-f", "flv", address], stdin=subprocess.DEVNULL)
    try:
        live = wait("live", lambda: session_if(lambda it: it.state == State.LIVE))
        print(f"live: {live.app_orientation}, {live.encode_resolution}")
        answer = ask(post_events, NAME, body=Event.from_dict({"device": "landscapeLeft"}))
        print(f"turned: {answer.decisions[0].to}")
        wait("turned", lambda: session_if(lambda it: it.app_orientation == "landscapeRight"))
        change = ask(
            change_session, NAME, body=Change(policy="portrait", options=ChangeOptions(fit="blur")))
        print(f"changed the policy at {change.at:.1f} s")
        wait("portrait", lambda: session_if(lambda it: it.app_orientation == "portrait"))
        recording = ask(add_output, NAME, body=FileOutput("file", "take.mp4"))
        push = ask(add_output, NAME, body=PushOutput(PushOutputType.RTMP, server))
        wait("pushed", lambda: output_if(push.id, 30))
        print(f"pushed, then {ask(stop_output, NAME, push.id).state.value}")
        wait("recorded", lambda: output_if(recording.id, 60))
        states = {each.id: each.state.value for each in ask(list_outputs, NAME).outputs}
        print(f"outputs: {states}")
        print(f"finished: {ask(remove_output, NAME, recording.id).name}")
        take = wait("finished", recording_if)
        file = download_recording.sync_detailed(take.id, client=client)
        assert file.status_code == 200 and len(file.content) == take.size, file
        assert delete_recording.sync_detailed(take.id, client=client).status_code == 204
        print(f"downloaded and removed: {take.id}, {take.size} bytes")
        signed = ask(sign_playback_url, NAME, body=PlaybackURLRequest(60))
        assert signed.url.startswith(url), signed
        playlist = get_live_file.sync_detailed(NAME, "index.m3u8", client=client)
        assert playlist.status_code == 200 and playlist.content.startswith(b"#EXTM3U"), playlist
        assert 'upright_session_state{session="app",state="live"} 1' in ask(read_metrics)
        # A refused change is a Problem with its reason.
        refused = change_session.sync_detailed(
            NAME, client=client, body=Change(options=ChangeOptions(fit="sideways")))
        assert refused.status_code == 422 and isinstance(refused.parsed, Problem), refused
    finally:
        phone.terminate()
        phone.wait()
    ended = ask(end_session, NAME)
    assert isinstance(ended, models.Session)
    print(f"ended: {ended.counters.frames_in} frames in, {ended.counters.frames_out} out, "
          f"dropped {ended.counters.dropped.to_dict()}")
    assert end_session.sync_detailed(NAME, client=client).status_code == 204
    ask(end_session, NAME + "-server")


if __name__ == "__main__":
    main()
