#!/usr/bin/env bash
# Links the C libraries, libupright and libuprightpolicy, from the modules that have been built, and puts what a
# C program needs beside them: .build/release/lib, or .build/debug/lib for the tests (`libraries.sh debug`).
#
# SwiftPM can't link Swift's libraries into a shared one, so swiftc does. Only the functions of upright.h are
# exported, and each of them has to be there: internal ones of the kernels have names of the same form.
#
# With POLICY=1 in the environment, libuprightpolicy alone is built and linked, which needs no FFmpeg. `libraries.sh static` links
# an FFmpeg into libupright, from what `build.sh static` has built, in .build/static/build/release/lib.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-release}
[ "$kind" != release ] || Scripts/build.sh libraries ${POLICY:+policy}
built=.build/$kind
[ "$kind" != static ] || built=.build/static/build/release
lib=$built/lib
header=Sources/CUpright/Header/include/upright.h
abi=$(sed -n 's/^#define UPRIGHT_ABI_VERSION //p' $header)
version=$(sed -n 's/^#define UPRIGHT_VERSION_[MP][A-Z]* //p' $header | paste -sd.)

policy=(CUprightPolicy UprightFrames UprightPolicy UprightKernels CUprightKernels UprightOrientation)
all=("${policy[@]}" CUpright UprightFiles UprightLive UprightMedia UprightMediaIO UprightPlaylists
  CUprightFFmpegShims UprightSignals DequeModule ContainersPreview InternalCollectionsUtilities)

# The objects of targets. Objects of sources that were deleted can be among them, and are left out.
objects() {
  local target object
  for target in "$@"; do
    local map=$built/$target.build/output-file-map.json
    if [ -e "$map" ]; then
      grep -o '"object": *"[^"]*"' "$map" | cut -d'"' -f4 | while IFS= read -r object; do
        [ ! -e "$object" ] || printf '"%s"\n' "$object"
      done
    else
      for object in "$built/$target.build"/*.o; do
        [ ! -e "Sources/$target/$(basename "${object%.o}")" ] || printf '"%s"\n' "$object"
      done
    fi
  done
}

# link NAME FLAGS...: exports the functions that standard input declares.
link() {
  local name=$1
  shift
  { echo "UPRIGHT_$abi { global:"; grep -oE '\bupright_[a-z_]+\(' | tr '(' ';' | sort -u; echo 'local: *; };'; } \
    >"$lib/$name.map"
  swiftc -emit-library -static-stdlib -use-ld=lld -o "$lib/$name.so.$abi" "@$lib/$name.objects" "$@" \
    -Xlinker "-soname=$name.so.$abi" -Xlinker "--version-script=$lib/$name.map" -Xlinker --gc-sections \
    -Xlinker --no-undefined "${strip[@]}"
  # A function that isn't public in Swift is hidden in a release.
  local function
  for function in $(grep -o '^upright_[a-z_]*' "$lib/$name.map"); do
    nm -D --defined-only "$lib/$name.so.$abi" | grep "[ ]$function@" >/dev/null || {
      echo "libraries: $name.so doesn't export $function" >&2
      exit 1
    }
  done
  ln -sf "$name.so.$abi" "$lib/$name.so"
}

mkdir -p "$lib"
# Valgrind 3.19 can't read the debug information of this compiler, and stops.
strip=(-Xlinker --strip-debug)
[ "$kind" = debug ] || strip=(-Xlinker --strip-all)
objects "${policy[@]}" >"$lib/libuprightpolicy.objects"
rm -f "$lib"/*.pc
older=()
if [ "$(uname -m)" = x86_64 ]; then
  cc -O2 -fPIC -c Packaging/older_glibc.c -o "$lib/older_glibc.o"
  older=("$lib/older_glibc.o" -Xlinker --push-state -Xlinker --no-as-needed -ldl -Xlinker --pop-state)
  for name in dlopen dlsym dlerror dladdr hypot stat; do older+=(-Xlinker "--wrap=$name"); done
fi
sed '/^ \* Messages (libupright.so)/,$d' $header | grep '^UPRIGHT_API' | link libuprightpolicy "${older[@]}"
# describe NAME PRIVATE...: the file for pkg-config. What a program doesn't need itself is in Libs.private, not in
# Requires.private, for which pkg-config would look for FFmpeg's headers.
describe() {
  local name=$1
  shift
  cat >"$lib/$name.pc" <<PC
prefix=\${pcfiledir}
libdir=\${prefix}
includedir=\${prefix}
Name: $name
Description: Orients video by a rotation policy
Version: $version
Libs: -L\${libdir} -l$name
Libs.private: $*
Cflags: -I\${includedir}
PC
}

cp $header "$lib/"
describe uprightpolicy -lstdc++ -lm
[ -z "${POLICY:-}" ] || exit 0
objects "${all[@]}" >"$lib/libupright.objects"
ffmpeg=(libavfilter libavformat libavcodec libswscale libswresample libavutil)
if [ "$kind" = static ]; then
  export PKG_CONFIG_PATH=$PWD/.build/static/linked/lib/pkgconfig
  read -ra ffmpeg < <(pkg-config --static --libs "${ffmpeg[@]}")
  cc -O2 -fPIC -c Packaging/own_stderr.c -o "$lib/own_stderr.o"
  ffmpeg+=(-lpthread -ldl -lrt "$lib/older_glibc.o" "$lib/own_stderr.o")
  for argument in "--sysroot=$PWD/.build/static/glibc" -static-libgcc; do ffmpeg+=(-Xclang-linker "$argument"); done
else
  read -ra ffmpeg < <(pkg-config --libs "${ffmpeg[@]}")
fi
grep '^UPRIGHT_API' $header | link libupright "${ffmpeg[@]}"
describe upright "${ffmpeg[@]}" -lstdc++ -lm
