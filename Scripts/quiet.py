#!/usr/bin/env python3
"""Runs a build and prints its progress every ten seconds, each warning of this project once, and the last
line; if it fails, the whole output. In CI a warning is a failure: elsewhere one of a newer compiler breaks no build.
Usage: quiet.py COMMAND..."""

import os
import re
import subprocess
import sys
import threading
import time

EVERY = 10
OURS = re.compile(r"warning:")
# Warnings of SwiftPM about dependencies, and of the static linker about glibc.
THEIRS = re.compile(r"^warning: (ignoring )?'|/swift_static/|/checkouts/|ld.gold: ")


def main():
    process = subprocess.Popen(
        sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")
    lines, start, is_over = [], time.monotonic(), threading.Event()

    def tell():
        while not is_over.wait(EVERY):
            print(f"{time.monotonic() - start:6.1f} s  {lines[-1] if lines else 'starting'}"[:140], flush=True)

    threading.Thread(target=tell, daemon=True).start()
    for line in process.stdout:
        if not line.startswith("remark: "):
            lines.append(line.rstrip())
    status = process.wait()
    is_over.set()
    if status != 0:
        print("\n".join(lines))
    else:
        warnings = sorted({line for line in lines if OURS.search(line) and not THEIRS.search(line)})
        for line in warnings:
            print(line)
        if lines:
            print(lines[-1])
        if warnings and os.environ.get("CI"):
            status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
