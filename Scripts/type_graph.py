#!/usr/bin/env python3
"""The graph of references between the targets of a package, and between their folders: of the engine in Sources, and of
the service in Service/Sources.

    type_graph.py            fails if a graph has a circle, or a folder refers to one that it must not
    type_graph.py --print    prints who refers to whom, by which names

References are to types, to functions outside types, and to members of extensions: `size.isPlausible` names no type. A type
is known by its name, so a name may be declared once in a package. A member or function is known by its name and first label,
and is left out where several folders have one that other files see. Comments and strings are left out, and so are links to
files of the other package.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = (ROOT / "Sources", ROOT / "Service/Sources")
DECLARATION = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |internal |fileprivate |private )?"
    r"(?:final |indirect |nonisolated )*(struct|class|enum|protocol|actor|typealias) (\w+)", re.M)
NESTED = re.compile(r"^ +[\w ()@]*\b(?:struct|class|enum|protocol|actor|typealias) (\w+)", re.M)
MEMBER = re.compile(
    r"^ *((?:@\w+(?:\([^)]*\))? +|[a-z]+(?:\(set\))? +)*)(?:func|var|let|case) `?(\w+)`?(?:<[^(]*>)?(?:\((\w+))?")
EXTENSION = re.compile(r"^(?:@\w+ |public |package )*extension ")
# Folders that don't refer to each other.
APART = {"Media/Intake", "Media/Orienting", "Media/Containers"}
# What any server needs. These folders refer to each other only.
SERVER_KIT = {f"UprightService/{name}" for name in (
    "Access", "Addresses", "Concurrency", "Configuration", "Downloads", "Problems", "Proxy", "TLS")}
NOISE = re.compile(
    r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')


def parts(path):
    """A file's folders: its target, and the folders in it."""
    package = next(each for each in PACKAGES if each in path.parents)
    return path.relative_to(package).parts[:-1]


def unit(path):
    """What a file belongs to: its target, and the folder in it if there are any."""
    return "/".join(parts(path)[:2])


def target(path):
    return parts(path)[0]


def read(package):
    return {
        path: NOISE.sub(" ", path.read_text())
        for path in sorted(package.rglob("*.swift")) if not path.is_symlink()}


def names(name, label):
    """How a member may be referred to: with its first label, if it has one."""
    return f"{name}({label}" if label not in ("", "_") else name


class Members:
    """The members of extensions, and the functions and values outside types, of a package."""

    def __init__(self, files):
        # By name: the units whose files declare it, and those whose declarations other files see. Of these, those that have
        # it in an extension (1) or outside types (0).
        self.own, self.seen = collections.defaultdict(set), collections.defaultdict(set)
        self.places = collections.defaultdict(set), collections.defaultdict(set)
        for path, text in files.items():
            depth, is_extended = 0, False
            for line in text.splitlines():
                if depth == 0 and line[:1].strip(" }#@)"):
                    is_extended = bool(EXTENSION.match(line))
                found = MEMBER.match(line)
                if found:
                    is_place = depth == 0 or depth == 1 and is_extended
                    self.add(unit(path), *found.groups(""), depth if is_place else None)
                depth += line.count("{") - line.count("}")

    def add(self, place, modifiers, name, label, depth):
        for each in {name, names(name, label)}:
            self.own[each].add(place)
            if "private" not in modifiers:
                self.seen[each].add(place)
        if depth is not None and "private" not in modifiers:
            self.places[depth][names(name, label)].add(place)

    def references(self, path, text):
        """Yields what a file refers to, with the unit that declares it."""
        for dot, word, label in set(re.findall(r"(\.|(?<![\w.]))([a-z]\w*)(?:\((\w+):)?", text)):
            for name in {word, names(word, label)}:
                places = self.places[len(dot)].get(name, ())
                if len(places) == 1 and places == self.seen[name] and unit(path) not in self.own[name]:
                    yield dot + name, next(iter(places))


def graph(files):
    declared, repeated = {}, []
    for path, text in files.items():
        for _, name in DECLARATION.findall(text):
            if name in declared and unit(declared[name]) != unit(path):
                repeated.append((name, declared[name], path))
            declared.setdefault(name, path)
    edges = collections.defaultdict(lambda: collections.defaultdict(set))
    nested = collections.defaultdict(set)
    for path, text in files.items():
        nested[target(path)].update(NESTED.findall(text))
    for path, text in files.items():
        for word in set(re.findall(r"(?<![.\w])[A-Z]\w*\b", text)) - nested[target(path)]:
            if word in declared and unit(declared[word]) != unit(path):
                edges[unit(path)][unit(declared[word])].add((word, path.name))
    members = Members(files)
    for path, text in files.items():
        for name, place in members.references(path, text):
            edges[unit(path)][place].add((name, path.name))
    return edges, repeated


def circles(edges):
    """Strongly connected components of more than one unit (Tarjan)."""
    index, low, stack, found, counter = {}, {}, [], [], [0]

    def visit(node):
        index[node] = low[node] = counter[0]
        counter[0] += 1
        stack.append(node)
        for other in edges.get(node, {}):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                top = stack.pop()
                component.append(top)
                if top == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    for node in list(edges):
        if node not in index:
            visit(node)
    return found


def print_references(edges, source, target):
    for name, file in sorted(edges.get(source, {}).get(target, ())):
        print(f"  {source} -> {target}: {name} in {file}")


def check(package):
    """Prints what is wrong in a package. Returns whether anything is."""
    edges, repeated = graph(read(package))
    if "--print" in sys.argv:
        for source in sorted(edges):
            for target in sorted(edges[source]):
                names = sorted({name for name, _ in edges[source][target]})
                print(f"{source} -> {target}: {', '.join(names)}")
    failed = False
    for name, one, two in repeated:
        failed = True
        print(f"{name} is declared twice: {one.relative_to(ROOT)}, {two.relative_to(ROOT)}")
    for circle in circles(edges):
        failed = True
        print("circle: " + ", ".join(circle))
        for source in circle:
            for target in circle:
                print_references(edges, source, target)
    wrong = [(source, target) for source in APART for target in APART & edges.get(source, {}).keys()]
    wrong += [(source, target) for source in SERVER_KIT for target in edges.get(source, {}).keys() - SERVER_KIT]
    for source, target in wrong:
        failed = True
        print(f"{source} must not refer to {target}:")
        print_references(edges, source, target)
    return failed


def main():
    # Each of them, so that all mistakes are printed.
    sys.exit(any([check(package) for package in PACKAGES]))


if __name__ == "__main__":
    main()
