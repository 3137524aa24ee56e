#!/usr/bin/env bash
# Writes the documentation of every product to .build/docs/upright.doccarchive, a folder for any web server.
#
# A warning of DocC is an error. So is a public symbol without a doc comment, or one that no sample, no test and not the
# service uses: see Scripts/public_symbols.py.
set -euo pipefail
cd "$(dirname "$0")/.."

Scripts/build.sh library
toolchain=$(swift -print-target-info | sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1|p')
triple=$(swift -print-target-info | sed -n 's|.*"unversionedTriple": "\(.*\)".*|\1|p')
built=.build/debug
out=.build/docs
rm -rf "$out"
mkdir -p "$out"

# Upright re-exports modules that aren't products: their symbols are documented as its own.
own=$(sed -n 's/^@_exported public import \(.*\)/\1/p' Sources/Upright/Upright.swift |
  grep -v UprightFrames | paste -sd,)
# A C module is found by its map: that of a system library is in the sources, that of a target is built.
maps=()
for folder in Sources/C[A-Z]*; do
  map=$folder/module.modulemap
  [ -e "$map" ] || map=$built/$(basename "$folder").build/module.modulemap
  [ ! -e "$map" ] || maps+=(-Xcc "-fmodule-map-file=$map")
done
archives=() dependencies=()
# A product comes after those that it links to.
for product in UprightOrientation UprightPolicy UprightKernels UprightFrames Upright; do
  graphs=$out/graphs/$product archive=$out/$product.doccarchive
  mkdir -p "$graphs"
  swift symbolgraph-extract -module-name "$product" -target "$triple" -I "$built/Modules" "${maps[@]}" \
    -experimental-allowed-reexported-modules="$own" \
    -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"
  Scripts/public_symbols.py "$product" "$graphs"/*.json
  "$toolchain/bin/docc" convert "docs/$product.docc" --additional-symbol-graph-dir "$graphs" \
    --fallback-display-name "$product" --fallback-bundle-identifier "$product" \
    --fallback-default-module-kind Library --output-path "$archive" \
    --warnings-as-errors --enable-experimental-external-link-support "${dependencies[@]}" \
    2>&1 | sed '/^$/d'
  archives+=("$archive") dependencies+=(--dependency "$archive")
done
"$toolchain/bin/docc" merge "${archives[@]}" --synthesized-landing-page-name Upright \
  --synthesized-landing-page-topics-style list \
  --output-path "$out/upright.doccarchive"
echo "docs: python3 -m http.server -d $out/upright.doccarchive 8000, then http://localhost:8000/documentation/"
