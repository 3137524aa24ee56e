#!/usr/bin/env bash
# Makes a Python environment with the packages of Python/requirements.txt, in .build/python, unless it is there.
# Prints the path of its Python.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/.build/python
if ! cmp -s Python/requirements.txt "$folder/requirements.txt"; then
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install -q --disable-pip-version-check -r Python/requirements.txt >&2
  cp Python/requirements.txt "$folder/"
fi
echo "$folder/bin/python"
