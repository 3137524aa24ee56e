"""A session by WHIP beside one by RTMP: what does it cost to receive the same H.264 stream?

A program in another network namespace publishes the stream by WebRTC, as it is, with Opus; ffmpeg publishes it by RTMP,
with AAC. Needs Janus, Debian's aiortc and the right to make network namespaces.
"""
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from . import running

ROUNDS, SECONDS, SETTLE = 3, 20, 6
NAME = "cam"
PYTHON = "/usr/bin/python3"
OPTIONS = {"frames": "metadata", "size": "1280x720"}


def measure(scratch):
    """Returns the medians of both: CPU time in ms per second, memory in MiB."""
    process = subprocess.run(
        [PYTHON, "-m", "live_service.whip", scratch], stdout=subprocess.PIPE, text=True,
        cwd=os.path.join(running.ROOT, "Benchmarks"))
    if process.returncode != 0:
        raise SystemExit("bench-live: whip needs Janus, python3-aiortc and network namespaces")
    return json.loads(process.stdout)


async def publish(url, video, audio, stopped):
    """Publishes two encoded files until `stopped` is set."""
    import aiortc
    from aiortc.contrib.media import MediaPlayer
    peer = aiortc.RTCPeerConnection()
    pictures = MediaPlayer(video, decode=False)
    transceiver = peer.addTransceiver(pictures.video, direction="sendonly")
    transceiver.setCodecPreferences([
        codec for codec in aiortc.RTCRtpSender.getCapabilities("video").codecs
        if codec.mimeType.lower() == "video/h264"])
    peer.addTransceiver(MediaPlayer(audio, decode=False).audio, direction="sendonly")
    await peer.setLocalDescription(await peer.createOffer())
    request = urllib.request.Request(
        url, method="POST", data=peer.localDescription.sdp.encode(),
        headers={"Authorization": "Bearer " + running.TOKEN, "Content-Type": "application/sdp"})
    answer = await asyncio.to_thread(lambda: urllib.request.urlopen(request).read().decode())
    await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
    await asyncio.to_thread(stopped.wait)
    await peer.close()


def sample(service, others):
    """Returns the cost of a live session: of the service, and CPU time and memory of the process `others`."""
    running.until(lambda: service.state(NAME)["state"] == "live", 20)
    time.sleep(SETTLE)
    processes = [service.process.pid, *others]
    spent, begin = [running.processor(each) for each in processes], time.monotonic()
    frames, sizes = service.counters(NAME)["framesIn"], []
    while time.monotonic() < begin + SECONDS:
        time.sleep(0.5)
        sizes.append([running.memory(each)[0] for each in processes])
    seconds = time.monotonic() - begin
    counters = service.counters(NAME)
    cpu = [1000 * (running.processor(each) - before) / seconds for each, before in zip(processes, spent)]
    memory = [statistics.median(column) for column in zip(*sizes)]
    return {"cpu": cpu[0], "memory": memory[0], "rate": (counters["framesIn"] - frames) / seconds,
            "dropped": sum(counters["dropped"].values()), "others": [cpu[1:], memory[1:]]}


def main(scratch):
    sys.path.insert(0, os.path.join(running.ROOT, "Tests/Players"))
    import janus_record
    import lossy_network
    seconds = SETTLE + SECONDS + 15
    clip = running.clip(scratch, seconds, size="1280x720")
    video, audio = (os.path.join(scratch, name) for name in ("whip.ts", "whip.ogg"))
    for line in (f"-i {clip} -an -c copy {video}", f"-i {clip} -vn -c:a libopus {audio}"):
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *line.split()], check=True)
    network = lossy_network.Network()
    folder = tempfile.mkdtemp(dir=scratch)
    janus, api = network.near.submit(
        janus_record.start_janus, shutil.which("janus"), folder, folder, 1, None).result()
    found = {"rtmp": [], "whip": []}
    try:
        for _ in range(ROUNDS):
            with running.Service() as service:
                service.session(NAME, [{"type": "hls"}], options=OPTIONS)
                publisher = running.Publisher(clip, service.address(NAME))
                found["rtmp"].append(sample(service, []))
                publisher.kill()
            with running.Service(
                    more=["--webrtc", f"http://127.0.0.1:{api}/janus"], host="0.0.0.0") as service:
                service.session(NAME, [{"type": "hls"}], options=OPTIONS, input={"whip": {}})
                stopped = threading.Event()
                url = f"http://{lossy_network.NEAR}:{service.http}/whip/{NAME}"
                publisher = network.far.submit(asyncio.run, publish(url, video, audio, stopped))
                try:
                    found["whip"].append(sample(service, [janus.pid]))
                finally:
                    stopped.set()
                publisher.result()
    finally:
        janus.kill()
    result = {
        kind: {name: statistics.median(each[name] for each in runs)
               for name in ("cpu", "memory", "rate", "dropped")}
        for kind, runs in found.items()}
    for index, name in enumerate(("Janus cpu", "Janus memory")):
        result[name] = statistics.median(each["others"][index][0] for each in found["whip"])
    for name in ("cpu", "memory"):
        result[name + " ratio"] = statistics.median(
            one[name] / other[name] for one, other in zip(found["whip"], found["rtmp"]))
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
