"""A whole file, with progress. Ctrl-C leaves no output.

    python transcode.py input.mp4 events.jsonl output.mp4
"""

import asyncio
import sys

import upright


async def main(source: str, events: str, output: str) -> None:
    def show(update: upright.Update) -> None:
        if update.kind == "progress" and update.duration:
            print(f"{update.seconds / update.duration:.0%}", file=sys.stderr)

    with open(events) as file:
        report = await upright.transcode_async(
            source, output, events=file.read(), frames="sensor", canvas="landscape", size="360p", on_update=show)
    print(report["output"]["frames"], "frames in", output)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
