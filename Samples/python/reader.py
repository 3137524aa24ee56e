"""Upright frames out of a file, as arrays of numpy.

    python reader.py input.mp4
"""

import sys

import upright


def main(source: str) -> None:
    for frame in upright.open(source):
        if frame.changed:
            print(f"{frame.time:.2f} s: {frame.numpy().shape}, turned {frame.turn}")


if __name__ == "__main__":
    main(*sys.argv[1:])
