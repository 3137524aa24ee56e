#!/usr/bin/env python3
"""Makes the site of mkdocs.yml in .build/site/html: the documents of the repository in their places, the reference from the programs
and from openapi.yaml. Fails if a link leads nowhere, or if a page loads something from another host. UPRIGHT is the program."""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / ".build/site"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```.*?^\1```", re.S | re.M)


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
                            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [pathlib.Path(line) for line in listed.stdout.splitlines()]


def collect():
    """Copies the pages of mkdocs.yml and the files that they link. A link to a folder, or to a page that isn't of the site, becomes
    its text."""
    pages = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    for name in sorted(page for page in pages if not page.startswith("reference/")):
        text = (ROOT / name).read_text()

        def kept(match):
            target, _, anchor = match[3].partition("#")
            path = (ROOT / name).parent / target
            if not target or re.match(r"\w+:", match[3]):
                return match[0]
            inside = os.path.relpath(path, ROOT)
            if path.is_dir() or path.suffix == ".md" and inside not in pages:
                return match[2]
            if path.suffix != ".md":
                copy = SITE / "source" / inside
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copy)
            return match[0]

        parts, end = [], 0
        for fence in FENCE.finditer(text):
            parts += [LINK.sub(kept, text[end:fence.start()]), fence[0]]
            end = fence.end()
        page = SITE / "source" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("".join(parts) + LINK.sub(kept, text[end:]))


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def command_text(words, command):
    """A command's section: what --help prints, as it prints it."""
    heading = "#" * min(1 + len(words), 3)
    shown = [*words[:1], "help", *words[1:]] if len(words) > 1 else [*words, "--help"]
    program = [os.environ["UPRIGHT"] if words[0] == "upright" else serve(), *shown[1:]]
    lines = [f"{heading} {' '.join(words)}\n", "```text\n" + output(*program).rstrip() + "\n```\n"]
    for each in command.get("subcommands", []):
        if each["shouldDisplay"] and each["commandName"] not in ("help", "serve"):
            lines.append(command_text([*words, each["commandName"]], each))
    return "\n".join(lines)


def serve():
    return str(pathlib.Path(os.environ["UPRIGHT"]).with_name("upright-serve"))


def api_text():
    """The operations of openapi.yaml by tag, each with its parameters and answers."""
    document = yaml.safe_load((ROOT / "Schemas/openapi.yaml").read_text())
    lines = ["# HTTP API\n", f"[openapi.yaml](../Schemas/openapi.yaml) is the whole description. {document['info'].get('description', '')}\n"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method not in ("get", "put", "post", "patch", "delete", "head", "options"):
                continue
            lines.append(f"## {method.upper()} `{path}`\n")
            lines.append(f"{operation.get('summary', '')}\n\n{operation.get('description', '')}\n")
            rows = [parameter_row(document, each) for each in operation.get("parameters", [])]
            rows += [f"| {status} | {cell(resolved(document, answer).get('description', ''))} |"
                     for status, answer in operation.get("responses", {}).items()]
            lines.append("\n".join(["| | |", "|---|---|", *rows]) + "\n")
    copy = SITE / "source/Schemas/openapi.yaml"
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "Schemas/openapi.yaml", copy)
    return "\n".join(lines)


def resolved(document, value):
    for part in value.get("$ref", "#/").split("/")[1:]:
        value = document = document[part] if part else value
    return value


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def parameter_row(document, parameter):
    parameter = resolved(document, parameter)
    return f"| `{parameter['name']}` ({parameter['in']}) | {cell(parameter.get('description', ''))} |"


def reference():
    folder = SITE / "source/reference"
    folder.mkdir(parents=True)
    for name, program in (("upright", os.environ["UPRIGHT"]), ("upright-serve", serve())):
        root = json.loads(output(program, "--experimental-dump-help"))["command"]
        (folder / f"{name}.md").write_text(command_text([name], root))
    (folder / "api.md").write_text(api_text())


class Page(html.parser.HTMLParser):
    """The links, the resources and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for name in ("src", "href"):
            if values.get(name) and (tag in ("img", "script", "iframe", "source", "video") or
                                     tag == "link" and values.get("rel") not in ("canonical", "prev", "next")):
                self.loaded.append(values[name])


def problems(site):
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    for path, page in pages.items():
        # mkdocs writes it for a server's root.
        if path.name == "404.html":
            continue
        for address in page.loaded:
            if re.match(r"(\w+:)?//", address):
                yield f"{path.relative_to(site)} loads {address}"
        for address in page.links + page.loaded:
            target, _, anchor = urllib.parse.unquote(address).partition("#")
            if re.match(r"\w+:|//", target):
                continue
            found = (path.parent / target.partition("?")[0]).resolve() if target else path
            if not found.exists() or anchor and found in pages and anchor not in pages[found].anchors:
                yield f"{path.relative_to(site)}: this link leads nowhere: {address}"
    for path in site.rglob("*.css"):
        for address in re.findall(r"url\(\s*[\"']?((?:https?:)?//[^)\"']+)", path.read_text()):
            yield f"{path.relative_to(site)} loads {address}"


def main():
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(parents=True)
    collect()
    reference()
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-f", "mkdocs.yml"], cwd=ROOT, check=True,
                   env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    found = sorted(set(problems(SITE / "html")))
    print("".join(f"site: {line}\n" for line in found), end="")
    pages = len(list((SITE / "html").rglob("*.html")))
    print(f"site: {pages} pages in .build/site/html, {len(found)} dead links or resources of other hosts")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
