#!/usr/bin/env bash
# The style that can be checked: format, shell and Python syntax, and nothing of one machine.
set -euo pipefail
cd "$(dirname "$0")/.."

paths=(Package.swift Sources Tests Fuzz)
[ -d Benchmarks ] && paths+=(Benchmarks/Package.swift Benchmarks/Sources)
swift format lint --strict -r "${paths[@]}"
while IFS= read -r script; do bash -n "$script"; done < <(git ls-files '*.sh' '.ci/run')
while IFS= read -r script; do
  python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$script"
done < <(git ls-files '*.py')
echo "lint: clean"
