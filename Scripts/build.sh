#!/usr/bin/env bash
# Builds into .build:
#
#   build.sh upright        the command line as it is released: the engine's package alone
#   build.sh serve          upright-serve as it is released, beside it
#   build.sh tests          the tests of the engine and of the service; `tests engine` or `tests service` of one
#   build.sh library        the modules of the engine's products
#   build.sh static         both programs with an FFmpeg of their own linked in, as the tarball has them, in
#                           .build/static/gpl/bin; `static lgpl` without x264 and x265. See Scripts/static-ffmpeg.sh
#   build.sh libraries      those of the C libraries as released; `libraries policy` of the one without FFmpeg
#
# The service is a package of its own, in Service, that uses this one by its products. Both are built in the same
# folder, so that the engine is compiled once.
#
# CI starts without a build and builds once for all, as the tests are built. All builds are made without debug information,
# which takes a fifth less, and without an index for editors, another sixth. A backtrace has names without lines:
# `swift build --build-tests` makes a build for the debugger.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1
# SwiftPM would take the other package's plan for its own.
flags=(--disable-build-manifest-caching --disable-index-store -debug-info-format none)
# Without CI, what is released is built as released. In all other builds the engine is optimised, with all assertions, and the
# service isn't: see their Package.swift.
if [ "$what" = libraries ] || { [ -z "${CI:-}" ] && [[ $what = upright || $what = serve ]]; }; then
  # Swift's libraries are linked statically: the program starts faster and runs without a toolchain.
  flags+=(-c release --static-swift-stdlib --disable-local-rpath)
fi
service=(--package-path Service --scratch-path .build)
build() { Scripts/quiet.py swift build "${flags[@]}" "$@"; }

# Links with FFmpeg's static libraries and the C library of Debian 11: only that one is loaded when the program starts.
static() {
  local static=$PWD/.build/static argument name
  local prefix=$static/linked built=$static/build/release
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  flags=(-c release --static-swift-stdlib --disable-local-rpath --disable-build-manifest-caching --disable-index-store
    -debug-info-format none --scratch-path "$static/build" -Xswiftc -DLINKED_FILTERS
    -Xlinker --gc-sections -Xlinker --strip-all)
  for argument in -use-ld=lld -Xclang-linker "--sysroot=$static/glibc" -Xclang-linker -static-libgcc; do
    flags+=(-Xswiftc "$argument")
  done
  # What the libraries need, as pkg-config says. Swift's package manager takes only their own flags.
  for name in $(pkg-config --static --libs-only-l libavfilter libavformat libavcodec libswscale srt libqrencode) \
    -lpthread -ldl -lrt; do
    flags+=(-Xlinker "$name")
  done
  cc -O2 -fPIC -c Packaging/older_glibc.c -o "$prefix/older_glibc.o"
  flags+=(-Xlinker "$prefix/older_glibc.o")
  # It would not be linked again only because the libraries are of the other kind.
  rm -f "$built"/upright{,-serve}
  build --product upright
  build --package-path Service --product upright-serve
  # What the library of the wheel is linked from.
  build --target CUpright
  mkdir -p "$prefix/bin"
  cp "$built"/upright{,-serve} "$prefix/bin/"
}
case $what in
  upright) build --product upright ;;
  serve) build "${service[@]}" --product upright-serve ;;
  tests)
    [ "${2:-engine}" != engine ] || build --build-tests
    [ "${2:-service}" != service ] || build "${service[@]}" --build-tests
    ;;
  static)
    Scripts/static-ffmpeg.sh "${2:-gpl}"
    static "${2:-gpl}"
    ;;
  library) build --target Upright ;;
  libraries) build --target "CUpright${2:+Policy}" ;;
esac
