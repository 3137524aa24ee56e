#!/usr/bin/env bash
# Checks the style: the format of Swift, number conversions, the size of functions, the syntax of shell and Python
# scripts, that the code in articles is that of the samples, and that links lead somewhere.
set -euo pipefail
cd "$(dirname "$0")/.."

paths=(Package.swift Sources Tests Fuzz Samples Service)
[ -d Benchmarks ] && paths+=(Benchmarks/Package.swift Benchmarks/Sources)
swift format lint --strict -r "${paths[@]}"
# Numbers from a file or a stream must be converted with `init(clamping:)` or `init(exactly:)`.
if grep -rnE '\bU?Int(64|32|16|8)?\(.*(rounded\(|[sS]econds|Double\()' Sources Service/Sources --include='*.swift' \
  | grep -vE 'clamping|exactly|Sources/Orientation/ClampedNumber|Sources/MediaIO/Packet/TimeLimits|Sources/PixelKernels/FilterBank'; then
  echo "lint: unchecked number conversion: see Sources/Orientation/ClampedNumber.swift" >&2
  exit 1
fi
while IFS= read -r script; do bash -n "$script"; done < <(git ls-files '*.sh' '.ci/run')
while IFS= read -r script; do
  python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$script"
done < <(git ls-files '*.py')
python3 Scripts/type_graph.py
python3 Scripts/function_sizes.py
python3 Scripts/check_docs.py
echo "lint: clean"
