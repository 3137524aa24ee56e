#!/usr/bin/env python3
"""Fails if an article in docs shows Swift that isn't in a sample, if a program of docs/short.md isn't one of Samples, if a
link of a document leads nowhere, or if commands in docs aren't marked as run or not run (Scripts/blocks.py). Swift is compared line by line: indentation and comments may differ."""

import pathlib
import re
import subprocess
import sys

import blocks

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = re.compile(r"^```.*?^```", re.S | re.M)


def unknown_lines():
    lines = {
        line.strip() for path in ROOT.glob("Samples/*/main.swift") for line in path.read_text().splitlines()
    }
    for path in sorted(ROOT.glob("docs/*.docc/*.md")):
        for block in re.findall(r"^```swift\n(.*?)^```", path.read_text(), re.S | re.M):
            for line in block.splitlines():
                if line.strip() and line.strip() not in lines:
                    yield f"{path.relative_to(ROOT)}: no sample has this line: {line.strip()}"


def unknown_programs():
    programs = {path.read_text() for folder in ("short", "frames-out", "make-hls") for path in ROOT.glob(f"Samples/{folder}/*")}
    for block in re.findall(r"^```\w+\n(.*?)^```", (ROOT / "docs/short.md").read_text(), re.S | re.M):
        if block not in programs:
            yield f"docs/short.md: no sample is this program: {block.splitlines()[0]}"


def anchors(path):
    """Returns the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken_links():
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for path in map(ROOT.joinpath, listed.splitlines()):
        for link in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", path.read_text())):
            name, _, anchor = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            target = path.parent / name if name else path
            if not target.exists() or anchor and anchor not in anchors(target):
                yield f"{path.relative_to(ROOT)}: this link leads nowhere: {link}"


def unmarked_commands():
    for path in sorted(ROOT.glob("docs/*.md")):
        text = path.read_text()
        if len(re.findall(r"^```sh$", text, re.M)) != len(blocks.blocks(path)):
            yield f"{path.relative_to(ROOT)}: a block of commands has no line <!-- run --> or <!-- not run: REASON --> above it"


def main():
    found = [*unknown_lines(), *unknown_programs(), *broken_links(), *unmarked_commands()]
    print("".join(f"{line}\n" for line in found), end="")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
