#!/usr/bin/env python3
"""Prints the commands of a document that tests run. Usage: blocks.py DOCUMENT MARK

A block of shell commands follows a line of its own that says what becomes of it: `<!-- run -->`, `<!-- run: MARK -->`, `<!-- run
in the background -->`, or `<!-- not run: REASON -->`."""

import pathlib
import re
import sys

MARKED = re.compile(r"^<!-- ((?:not )?run[^>]*?) -->\n```sh\n(.*?)^```", re.S | re.M)


def blocks(path):
    """Returns pairs of mark and commands, in the document's order."""
    return MARKED.findall(pathlib.Path(path).read_text())


if __name__ == "__main__":
    found = [commands for mark, commands in blocks(sys.argv[1]) if mark == sys.argv[2]]
    if not found:
        sys.exit(f"blocks: {sys.argv[1]} has no block with the mark {sys.argv[2]}")
    print("".join(found), end="")
