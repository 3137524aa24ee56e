#!/usr/bin/env bash
# Builds the samples in a package of their own that depends on this one, as an embedder does: beside Foundation
# and SwiftNIO, and with targets whose names a library of media may be tempted to use. Those of the policy and of frames in
# memory are built as on a machine without FFmpeg.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
app=$(mktemp -d)
trap 'rm -rf "$app"' EXIT
samples=(policy-only frames-in-out sfu-recorder transcode-async live-hls frames-out)

mkdir -p "$app/Sources"
for sample in "${samples[@]}"; do
  mkdir "$app/Sources/$sample"
  { printf 'import Foundation\nimport NIOCore\n'; cat "Samples/$sample/main.swift"; } \
    >"$app/Sources/$sample/main.swift"
done
targets=
for name in CFFmpeg CZlib CMalloc Orientation RTP Signals Media; do
  mkdir "$app/Sources/$name"
  echo "public let name = \"$name\"" >"$app/Sources/$name/$name.swift"
  targets+="\"$name\", "
done
cat >"$app/Package.swift" <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let package = Package(
  name: "app",
  dependencies: [
    .package(name: "upright", path: "$root"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .executableTarget(
      name: "policy-only",
      dependencies: [${targets}.product(name: "UprightPolicy", package: "upright"), nio]),
    .executableTarget(
      name: "frames-in-out",
      dependencies: [.product(name: "UprightFrames", package: "upright"), nio]),
    .executableTarget(
      name: "sfu-recorder", dependencies: [.product(name: "Upright", package: "upright"), nio]),
    .executableTarget(
      name: "transcode-async", dependencies: [.product(name: "Upright", package: "upright"), nio]),
    .executableTarget(
      name: "live-hls", dependencies: [.product(name: "Upright", package: "upright"), nio]),
    .executableTarget(
      name: "frames-out", dependencies: [.product(name: "Upright", package: "upright"), nio]),
  ] + [${targets%, }].map { .target(name: $0) },
  swiftLanguageModes: [.v6]
)
SWIFT

build='Scripts/quiet.py swift build --package-path "$0" --product'
# A mount namespace hides FFmpeg's headers, and an empty folder its files for pkg-config.
namespace=(unshare --mount)
[ "$(id -u)" = 0 ] || namespace+=(--map-root-user)
PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$app/Sources "${namespace[@]}" bash -euc "
  for folder in /usr/include/*/libav* /usr/include/*/libsw*; do mount -t tmpfs none \"\$folder\"; done
  ! pkg-config --exists libavutil && [ ! -e /usr/include/*/libavutil/avutil.h ]
  for sample in ${samples[*]:0:2}; do $build \"\$sample\"; done" "$app"
for sample in "${samples[@]:2}"; do
  bash -c "$build $sample" "$app"
done
for sample in "${samples[@]:0:2}"; do
  "$app/.build/debug/$sample" >/dev/null
  ! ldd "$app/.build/debug/$sample" | grep -E 'libav(codec|format|util)' || {
    echo "embedding: $sample links FFmpeg" >&2
    exit 1
  }
done
clip=Samples/clips/turning-sensor
"$app/.build/debug/transcode-async" "$clip.mp4" "$clip.jsonl" "$app/out.mp4"
echo "embedding: clean"
