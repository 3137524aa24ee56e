"""How bright each second of a clip is, in an event loop that does other things meanwhile.  brightness.py CLIP"""
import asyncio
import sys

import upright


async def main():
    async with upright.open(sys.argv[1], format="native") as reader:
        async for frame in reader:
            if frame.time % 1 < 0.02:
                print(f"{frame.time:.2f} s: {frame.planes[0].mean():.0f}")

asyncio.run(main())
