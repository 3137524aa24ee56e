#!/usr/bin/env python3
"""Fails if an article in docs shows Swift that isn't in a sample. Line by line: indentation and comments may differ."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    lines = {
        line.strip() for path in ROOT.glob("Samples/*/main.swift") for line in path.read_text().splitlines()
    }
    failed = False
    for path in sorted(ROOT.glob("docs/*.docc/*.md")):
        for block in re.findall(r"^```swift\n(.*?)^```", path.read_text(), re.S | re.M):
            for line in block.splitlines():
                if line.strip() and line.strip() not in lines:
                    print(f"{path.relative_to(ROOT)}: no sample has this line: {line.strip()}")
                    failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
