"""Frames of PyAV: a phone's recording is decoded, turned by the phone's events, and encoded upright.

    python frames.py input.mp4 events.jsonl output

Each format has a file of its own, output-0.mp4, output-1.mp4, ...
"""

import sys

import av
import upright_policy


def main(source: str, events: str, name: str) -> None:
    frames = upright_policy.Frames("phone", frames="sensor", size="360p")
    with open(events) as file:
        frames.event(file.read())
    output, count = None, 0
    with av.open(source) as container:
        for frame in container.decode(video=0):
            turned = frames.turn(frame)
            if turned.changed:
                if output:
                    output.mux(stream.encode(None))
                    output.close()
                output = av.open(f"{name}-{count}.mp4", "w")
                stream = output.add_stream("libx264", rate=container.streams.video[0].average_rate)
                stream.width, stream.height, stream.pix_fmt = turned.width, turned.height, turned.pixels
                print(f"{frame.time:.2f} s: {turned.width}x{turned.height}")
                count += 1
            output.mux(stream.encode(turned.frame))
    if output:
        output.mux(stream.encode(None))
        output.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
