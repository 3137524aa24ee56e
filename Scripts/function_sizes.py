#!/usr/bin/env python3
"""Fails if a function of the sources has more than 60 lines or more than 7 parameters.

Of the initialiser of a public value only the parameters without a default count: callers don't write the others.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINES, PARAMETERS = 60, 7
NOISE = re.compile(
    r'#*"""(?:.|\n)*?"""#*|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
FUNCTION = re.compile(
    r"(?<![.\w])(?P<name>func (?:\w+|[^\s\w(]+)|init[?]?|subscript) ?(?:<[^(]*>)?\(|"
    r"(?<![.\w])(?P<property>var \w+): [^={\n]*\{")
BODY = re.compile(r"\s*(?:(?:async|throws|rethrows|->|where)[^{}]*)?\{")


def blank(match):
    """Keeps the lines of a comment or string, without its characters."""
    return re.sub(r"[^\n]", " ", match.group())


def end(text, start, pair):
    """The index of the bracket that closes the one at `start`."""
    depth = 0
    for match in re.compile(f"[{re.escape(pair)}]").finditer(text, start):
        depth += 1 if match.group() == pair[0] else -1
        if depth == 0:
            return match.start()
    return len(text)


def parameters(text):
    """The parameters of a list."""
    found, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and text[index - 1] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(text[start:index])
            start = index + 1
    return [each for each in found + [text[start:]] if each.strip()]


def check(path):
    text = NOISE.sub(blank, path.read_text())
    failed = False
    for match in FUNCTION.finditer(text):
        name, start = match["name"] or match["property"], match.end() - 1
        count = 0
        if match["name"]:
            close = end(text, start, "()")
            all = parameters(text[match.end():close])
            line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            if match["name"].startswith("init") and "public" in line:
                all = [each for each in all if "=" not in each]
            count = len(all)
            body = BODY.match(text, close + 1)
            start = body.end() - 1 if body else None
        first = match.start("name" if match["name"] else "property")
        lines = text.count("\n", first, end(text, start, "{}")) + 1 if start is not None else 0
        where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, first) + 1}: {name}"
        if lines > LINES:
            print(f"{where} has {lines} lines: at most {LINES}")
        if count > PARAMETERS:
            print(f"{where} has {count} parameters: at most {PARAMETERS}")
        failed |= lines > LINES or count > PARAMETERS
    return failed


def main():
    files = [
        path for folder in ("Sources", "Service/Sources")
        for path in sorted((ROOT / folder).rglob("*.swift")) if not path.is_symlink()]
    # Each of them, so that all are printed.
    sys.exit(any([check(path) for path in files]))


if __name__ == "__main__":
    main()
