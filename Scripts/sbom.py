#!/usr/bin/env python3
"""Prints the list of what a folder of programs consists of, as SPDX 2.3 in JSON: the files with their digests, the libraries that are
linked in, and the Swift packages. Usage: sbom.py gpl|lgpl FOLDER VERSION. SOURCE_DATE_EPOCH is its time."""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Tests alone use it.
UNLINKED = {"yams"}
WHOLE = {"gpl": "GPL-3.0-or-later", "lgpl": "Apache-2.0 AND LGPL-3.0-or-later"}


def package(name, version, licence, address, comment=None):
    result = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "downloadLocation": address, "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
        "copyrightText": "NOASSERTION"}
    return {**result, "comment": comment} if comment else result


def libraries(kind):
    """The parts that Scripts/static-ffmpeg.sh linked."""
    for line in (ROOT / f".build/static/{kind}/sources.tsv").read_text().splitlines():
        name, version, licence, address = line.split("\t")
        options = (ROOT / f".build/static/{kind}/ffmpeg-configuration").read_text().split() if name == "ffmpeg" else None
        yield package(name, version, licence, address, options and "configured with " + " ".join(options))


def swift_packages():
    pins = {pin["identity"]: pin for file in ("Package.resolved", "Service/Package.resolved") if (ROOT / file).exists()
            for pin in json.loads((ROOT / file).read_text())["pins"]}
    for identity in sorted(pins.keys() - UNLINKED):
        pin = pins[identity]
        yield package(identity, pin["state"]["version"], "Apache-2.0", f"git+{pin['location']}@{pin['state']['revision']}")
    version = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout
    yield package("swift-runtime", re.search(r"Swift version (\S+)", version)[1], "Apache-2.0 WITH Swift-exception",
                  "git+https://github.com/swiftlang/swift")


def files(folder):
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        name = str(path.relative_to(folder))
        digests = [{"algorithm": kind, "checksumValue": hashlib.new(kind, path.read_bytes()).hexdigest()}
                   for kind in ("SHA1", "SHA256")]
        yield {"SPDXID": "SPDXRef-File-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "fileName": "./" + name,
               "checksums": digests, "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def main():
    kind, folder, version = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    parts = [*libraries(kind), *swift_packages()]
    listed = list(files(folder))
    upright = package("upright", version, WHOLE[kind], "NOASSERTION",
                      "Upright's own code is under Apache-2.0; the licence is that of the programs with all they link")
    digest = hashlib.sha256(json.dumps([parts, listed]).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)

    def relation(one, kind, other):
        return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}

    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": folder.name,
        "documentNamespace": f"https://upright.invalid/spdx/{folder.name}-{digest}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: upright-sbom"]},
        "packages": [upright, *parts], "files": listed,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", upright["SPDXID"])]
        + [relation(upright["SPDXID"], "STATIC_LINK", part["SPDXID"]) for part in parts]
        + [relation("SPDXRef-DOCUMENT", "DESCRIBES", file["SPDXID"]) for file in listed]}, indent=1))


if __name__ == "__main__":
    main()
