#!/usr/bin/env bash
# The style that can be checked: format, shell and Python syntax, and nothing of one machine.
set -euo pipefail
cd "$(dirname "$0")/.."

paths=(Package.swift Sources Tests Fuzz Samples)
[ -d Benchmarks ] && paths+=(Benchmarks/Package.swift Benchmarks/Sources)
swift format lint --strict -r "${paths[@]}"
# A number that a file or a stream can set is converted by `init(clamping:)` or `init(exactly:)`.
if grep -rnE '\bU?Int(64|32|16|8)?\(.*(rounded\(|[sS]econds|Double\()' Sources --include='*.swift' \
  | grep -vE 'clamping|exactly|Sources/Orientation/ClampedNumber|Sources/MediaIO/Container/TimeLimits|Sources/PixelKernels/FilterBank'; then
  echo "lint: a number is converted bare: see Sources/Orientation/ClampedNumber.swift" >&2
  exit 1
fi
while IFS= read -r script; do bash -n "$script"; done < <(git ls-files '*.sh' '.ci/run')
while IFS= read -r script; do
  python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$script"
done < <(git ls-files '*.py')
python3 Scripts/type_graph.py
echo "lint: clean"
