"""Records what a WebRTC peer sends, upright. Its events are messages of a data channel: {"device": "landscapeLeft"}.

    python recorder.py output.mp4 < offer.json > answer.json
"""

import asyncio
import json
import sys

import av
import upright_policy
from aiortc import MediaStreamTrack, RTCDataChannel, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError


async def record(peer: RTCPeerConnection, path: str) -> None:
    """Records the first video track of a peer until it ends."""
    frames = upright_policy.Frames("phone", frames="sensor", canvas="landscape", size="360p")
    tracks: asyncio.Queue[MediaStreamTrack] = asyncio.Queue()
    peer.on("track", lambda track: track.kind == "video" and tracks.put_nowait(track))

    @peer.on("datachannel")
    def on_channel(channel: RTCDataChannel) -> None:
        @channel.on("message")
        def on_message(message: str) -> None:
            try:
                frames.event(message)
            except upright_policy.UprightError as error:
                channel.send(str(error))

    track, clock = await tracks.get(), None
    with av.open(path, "w") as output:
        stream = output.add_stream("libx264", rate=30, options={"preset": "veryfast", "tune": "zerolatency"})
        stream.width, stream.height = 640, 360
        try:
            while True:
                frame = await track.recv()
                # On a thread, so that this peer's packets and other peers are served meanwhile.
                turned = await asyncio.to_thread(frames.turn, frame)
                clock = frame.pts if clock is None else clock
                turned.frame.pts -= clock
                output.mux(stream.encode(turned.frame))
        except MediaStreamError:
            output.mux(stream.encode(None))


async def main(path: str) -> None:
    peer = RTCPeerConnection()
    recording = asyncio.create_task(record(peer, path))
    await asyncio.sleep(0)
    await peer.setRemoteDescription(RTCSessionDescription(**json.load(sys.stdin)))
    await peer.setLocalDescription(await peer.createAnswer())
    print(json.dumps({"sdp": peer.localDescription.sdp, "type": peer.localDescription.type}), flush=True)
    await recording
    await peer.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
