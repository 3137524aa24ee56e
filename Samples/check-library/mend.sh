#!/usr/bin/env bash
# Finds and mends what is wrong in the library of a photo server, such as Immich's `upload` or PhotoPrism's `originals`:
#
#   mend.sh LIBRARY [REPORT]
#
# Prints what is wrong, mends what files say of themselves in place, and lists what only a transcode can mend. The old bytes
# are kept beside the report, for `upright tag --undo`. Afterwards let the server read its files again: in Immich
# "Extract metadata: all", in PhotoPrism `photoprism index --force`. UPRIGHT is the program.
set -euo pipefail
library=$1
report=${2:-check.json}
upright=${UPRIGHT:-upright}

# 1 is: something is wrong. Above are failures of files, which the report names; the others were checked.
check() { "$upright" check "$library" --json "$@" || [ $? -lt 128 ]; }

check > "$report"
python3 - "$report" <<'PYTHON'
import json
import sys

report = json.load(open(sys.argv[1]))
for kind, count in report["summary"]["problems"].items():
    print(f"{count:6}  {kind}")
for file in report["files"]:
    if "error" in file:
        print(f"not checked: {file['path']}: {file['error']['error']}")
PYTHON

check --fix metadata --in-place --record "$report.undo" > "$report.mended"
python3 - "$report.mended" <<'PYTHON'
import json
import sys

report = json.load(open(sys.argv[1]))
print(report["summary"]["mended"], "mended")
for file in report["files"]:
    fix = file.get("fix")
    if fix and fix["obstacle"]:
        print(f"not mended: {file['path']}: {fix['obstacle']}")
PYTHON
