#!/usr/bin/env python3
"""Checks the public symbols of a product, and prepares its symbol graphs for DocC.

    public_symbols.py PRODUCT GRAPH...

Each public symbol must have a doc comment that begins with a sentence and names the errors that it throws, and
must occur in a sample, a test or the live service, which is an embedder: by its name, an initializer by its type's name, a
type also by a member's.

A product re-exports the modules that it consists of. DocC reports mistakes only in comments of the product's own
module, so all comments are made its own.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"//[^\n]*|/\*(?:.|\n)*?\*/")
# What is used without its name: by an operator, by brackets, or by the standard library.
NAMELESS = {"subscript", "func.op"}
CALLED_BY_SWIFT = {"description", "encode", "hash", "makeAsyncIterator", "next"}
MADE = {"init(rawValue:)", "init(from:)", "encode(to:)"}


def words_of_uses():
    found = set(CALLED_BY_SWIFT)
    for folder in ("Samples", "Tests", "Service/Sources", "Service/Tests"):
        for path in (ROOT / folder).rglob("*.swift"):
            found.update(re.findall(r"\w+", COMMENT.sub(" ", path.read_text())))
    return found


def kind(symbol):
    return symbol["kind"]["identifier"].removeprefix("swift.")


def uses(symbol, words):
    *outer, last = symbol["pathComponents"]
    name = outer[-1] if kind(symbol) == "init" else last.split("(")[0]
    return kind(symbol) in NAMELESS or name in words


def mistakes(symbols, words):
    used = set()
    for symbol in symbols:
        if uses(symbol, words):
            path = tuple(symbol["pathComponents"])
            used.update(path[:length] for length in range(1, len(path) + 1))
    for symbol in symbols:
        lines = [line["text"].strip() for line in symbol.get("docComment", {}).get("lines", [])]
        spellings = [part["spelling"] for part in symbol["declarationFragments"]]
        if not lines or lines[0].startswith("- "):
            yield symbol, "has no doc comment"
        elif "throws" in spellings and "Throws" not in " ".join(lines):
            yield symbol, "throws, and its doc comment doesn't say what"
        if tuple(symbol["pathComponents"]) not in used:
            yield symbol, "occurs in no sample, no test, and not in the service"


def is_written(symbol):
    """Whether the symbol is in the sources. The compiler adds these."""
    return "location" in symbol or symbol["pathComponents"][-1] not in MADE


def place(symbol):
    if "location" not in symbol:
        return "an unknown file"
    path = pathlib.Path(symbol["location"]["uri"].removeprefix("file://"))
    return f"{path.relative_to(ROOT)}:{symbol['location']['position']['line'] + 1}"


def main():
    product, paths = sys.argv[1], [pathlib.Path(path) for path in sys.argv[2:]]
    graphs = [json.loads(path.read_text()) for path in paths]
    symbols = [symbol for graph in graphs for symbol in graph["symbols"] if is_written(symbol)]
    words, failed = words_of_uses(), False
    for symbol, mistake in mistakes(symbols, words):
        print(f"{place(symbol)}: {'.'.join(symbol['pathComponents'])} {mistake}", file=sys.stderr)
        failed = True
    for path, graph in zip(paths, graphs):
        for symbol in graph["symbols"]:
            if "docComment" in symbol and is_written(symbol):
                symbol["docComment"]["module"] = product
        path.write_text(json.dumps(graph))
    print(f"{product}: {len(symbols)} public symbols")
    sys.exit(failed)


if __name__ == "__main__":
    main()
