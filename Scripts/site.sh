#!/usr/bin/env bash
# Makes the site in .build/site/html, and runs the commands on it (Tests/Site/commands.py). Needs both programs: UPRIGHT, by
# default those of `make build`.
set -euo pipefail
cd "$(dirname "$0")/.."

export UPRIGHT=${UPRIGHT:-$PWD/.build/release/upright}
[ -x "$(dirname "$UPRIGHT")/upright-serve" ] || { echo "site: upright-serve isn't built: run make build" >&2; exit 69; }
folder=$PWD/.build/python-site
if ! cmp -s Python/site.txt "$folder/site.txt"; then
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-compile -r Python/site.txt
  cp Python/site.txt "$folder/"
fi
"$folder/bin/python" Scripts/site.py
python3 Tests/Site/commands.py
