#!/usr/bin/env python3
"""Writes the manual pages of a program, from the texts of --help: a page in section 1 for the program and each of its
commands, and of upright-serve also upright.json(5), for the settings of the service. Usage: man.py PROGRAM FOLDER

A command's discussion is divided by headings in capitals. These blocks are recognised, with an empty line
between them:

    A paragraph starts at the margin.

      term
          A list has an indentation of two, and its texts one of six.

      term  or its text follows after two or more spaces.

      Anything else with an indentation is printed as it is, and so is all of EXAMPLES.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import textwrap

HEADING = re.compile(r"[A-Z][A-Z ]+")
COLUMNS = re.compile(r"  (\S+) {2,}(\S.*)")
# The order of sections in man-pages(7); headings that aren't listed come before these.
LAST = ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"]
# The section of upright-serve's help that describes upright.json as a whole.
ABOUT_FILE = "CONFIGURATION FILE"
# The command that becomes a program of its own. The page of that name comes from the program.
SERVE = "serve"
SPECIAL = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def escaped(text):
    """Returns text as roff prints it, so that it can be copied from the page."""
    return "".join(SPECIAL.get(c, c if ord(c) < 127 else "\\[u%04X]" % ord(c)) for c in text)


def line(text):
    """Returns a text line, which no first character turns into a request."""
    return ("\\&" if text[:1] in (".", "'") else "") + escaped(text)


def paragraph(text):
    """Returns text in lines of at most 72 characters before they are escaped."""
    return "\n".join(line(each) for each in textwrap.wrap(text, 72, break_on_hyphens=False, break_long_words=False))


def bold(text):
    return "\\fB" + escaped(text) + "\\fR"


def italic(text):
    return "\\fI" + escaped(text) + "\\fR"


def item(term, text):
    """Returns an item of a list. The term is already escaped."""
    return [".TP", term] + ([paragraph(text)] if text else [])


def sections(discussion):
    """Divides a discussion into its sections: lists of lines by heading, the first under DESCRIPTION."""
    result = {"DESCRIPTION": []}
    lines = result["DESCRIPTION"]
    for text in discussion.split("\n"):
        if HEADING.fullmatch(text):
            lines = result.setdefault(text, [])
        else:
            lines.append(text)
    return result


def blocks(lines):
    """Divides lines at empty ones."""
    block = []
    for text in lines + [""]:
        if text:
            block.append(text)
        elif block:
            yield block
            block = []


def verbatim(lines):
    return [".PP", ".RS 4", ".EX"] + [line(text[2:]) for text in lines] + [".EE", ".RE"]


def body(lines, heading):
    """Returns a section's lines as roff."""
    result = []
    for block in blocks(lines):
        if not block[0].startswith("  "):
            result += [".PP", paragraph(" ".join(block))]
        elif heading == "EXAMPLES":
            result += verbatim(block)
        elif len(block) > 1 and block[1].startswith(" " * 6):
            text = []
            for each in block + [""]:
                if each.startswith(" " * 6):
                    text.append(each.strip())
                    continue
                if text:
                    result += item(term, " ".join(text))
                term, text = bold(each.strip()), []
        elif all(COLUMNS.fullmatch(each) for each in block):
            for each in block:
                term, text = COLUMNS.fullmatch(each).groups()
                result += item(bold(term), text)
        else:
            result += verbatim(block)
    # The first paragraph needs no macro after its heading.
    return result[1:] if result[:1] == [".PP"] else result


def name(argument):
    """Returns an option's names, the short one first, and its value."""
    names = sorted(argument.get("names", []), key=lambda each: each["kind"] == "long")
    words = [bold(("--" if each["kind"] == "long" else "-") + each["name"]) for each in names]
    value = italic(argument["valueName"])
    if argument["kind"] == "positional":
        return value
    return ", ".join(words) + (" " + value if argument["kind"] == "option" else "")


def meaning(argument):
    """Returns an argument's help, with its values and default as --help prints them."""
    notes = []
    if argument.get("allValues"):
        notes.append("values: " + ", ".join(argument["allValues"]))
    if argument.get("defaultValue"):
        notes.append("default: " + argument["defaultValue"])
    return argument.get("abstract", "") + (" (" + "; ".join(notes) + ")" if notes else "")


def synopsis(words, command):
    arguments = command["arguments"]
    if shown(command):
        return [bold(words) + " " + italic("command") + " [" + italic("arguments") + "]", ".br",
                bold(words + " help") + " [" + italic("command") + "]"]
    result = bold(words) + " [" + italic("options") + "]"
    for argument in arguments:
        if argument["kind"] == "option" and not argument["isOptional"]:
            result += " " + bold("--" + argument["preferredName"]["name"]) + " " + italic(argument["valueName"])
    for argument in arguments:
        if argument["kind"] == "positional":
            word = italic(argument["valueName"]) + (" ..." if argument["isRepeating"] else "")
            result += " [" + word + "]" if argument["isOptional"] else " " + word
    return [result]


def options(command):
    """Returns the sections of the arguments, by heading."""
    result = {}
    for argument in command["arguments"]:
        if argument["shouldDisplay"]:
            plain = "ARGUMENTS" if argument["kind"] == "positional" else "OPTIONS"
            heading = argument.get("sectionTitle", plain).upper()
            result.setdefault(heading, []).extend(item(name(argument), meaning(argument)))
    return result


def page(title, section, version, parts):
    """Returns a page of sections in their order, each a heading and lines of roff."""
    date = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH") or os.stat(sys.argv[1]).st_mtime), datetime.timezone.utc)
    text = ['.TH "%s" %d "%s" "%s" "Upright"' % (
        escaped(title.upper()), section, date.strftime("%Y-%m-%d"), escaped(version))]
    ordered = sorted(parts, key=lambda heading: LAST.index(heading) if heading in LAST else -1)
    for heading in ordered:
        if parts[heading]:
            text += [".SH " + escaped(heading) if " " not in heading else '.SH "%s"' % escaped(heading)]
            text += parts[heading]
    return "\n".join(text) + "\n"


def summary(command):
    """Returns a command's abstract without its final full stop, as NAME has it."""
    text = command["abstract"].rstrip(".")
    return text[0].lower() + text[1:]


def references(pages):
    """Returns references to pages, which are names and sections, separated by commas."""
    last = len(pages) - 1
    return [".BR %s (%d)%s" % (escaped(word), section, "," if index < last else "")
            for index, (word, section) in enumerate(pages)]


def shown(root):
    """Returns the commands that the program's page lists."""
    return [each for each in root.get("subcommands", []) if each["shouldDisplay"] and each["commandName"] != "help"]


def command_page(command, root, version):
    words = command["commandName"] if command is root else root["commandName"] + " " + command["commandName"]
    title = words.replace(" ", "-")
    written = sections(command.get("discussion", ""))
    parts = {
        "NAME": [escaped(title) + " \\- " + escaped(summary(command))],
        "SYNOPSIS": synopsis(words, command),
        "DESCRIPTION": [paragraph(command["abstract"])],
    }
    described = body(written.pop("DESCRIPTION"), "DESCRIPTION")
    if described:
        parts["DESCRIPTION"] += [".PP"] + described
    commands = shown(root)
    pages = [(root["commandName"] + "-" + each["commandName"], 1) for each in commands]
    if command is root and commands:
        parts["COMMANDS"] = []
        for (word, section), each in zip(pages, commands):
            parts["COMMANDS"] += [".TP", ".BR %s (%d)" % (escaped(word), section), paragraph(each["abstract"])]
    parts.update(options(command))
    # Every command has the exit statuses that the program's help lists.
    written.setdefault("EXIT STATUS", sections(root["discussion"])["EXIT STATUS"])
    for heading, lines in written.items():
        parts[heading] = body(lines, heading)
    others = [("upright", 1)] + pages
    if command is root:
        others.append(("upright.json", 5))
    parts["SEE ALSO"] = references([each for each in others if each[0] != title])
    return title + ".1", page(title, 1, version, parts)


def file_page(command, version):
    """Returns the page of the configuration file, from the help of the command that reads it."""
    written = sections(command["discussion"])
    parts = {
        "NAME": [escaped("upright.json") + " \\- configuration of " + escaped("upright-serve")],
        "DESCRIPTION": body(written[ABOUT_FILE], "DESCRIPTION"),
        "SETTINGS": body(written["SETTINGS"], "SETTINGS"),
        "FILES": item(italic("/etc/upright/upright.json"), "The file that upright.service reads.")
        + body(written["FILES"], "FILES"),
        "SEE ALSO": references([("upright-serve", 1)]),
    }
    return "upright.json.5", page("upright.json", 5, version, parts)


def main():
    program, folder = sys.argv[1:]

    def output(*arguments):
        return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    version = output("--version").split("\n")[0]
    root = json.loads(output("--experimental-dump-help"))["command"]
    commands = [each for each in shown(root) if each["commandName"] != SERVE]
    pages = [command_page(each, root, version) for each in [root] + commands]
    if ABOUT_FILE in sections(root["discussion"]):
        pages.append(file_page(root, version))
    os.makedirs(folder, exist_ok=True)
    for file, text in pages:
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(text)


if __name__ == "__main__":
    main()
