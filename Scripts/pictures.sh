#!/usr/bin/env bash
# Makes the README's pictures with the programs that `make build` has built, or with that of the first argument and the
# upright-serve beside it: the sheet docs/upright.png, and the console's page docs/console.png.
set -euo pipefail
cd "$(dirname "$0")/.."

upright=${1:-.build/release/upright}
clip=Samples/clips/turning-sensor
"$upright" preview "$clip.mp4" --frames sensor --events "$clip.jsonl" --policy phone --canvas follow -o docs/upright.png --overwrite

python=$(Scripts/python.sh)
"$python" Tests/Players/console_pictures.py "$upright" docs/console.png
