#!/usr/bin/env bash
# Checks the kernels for aarch64 on an x86-64 machine: Tests/Kernels, compiled for both, compares every level
# with the reference, and the checksums show that both CPUs write the same bytes. The emulator has an ARMv8.0
# CPU, the oldest, so that newer instructions fail. It says nothing about the speed.
#
# Usage: check-arm.sh [turns|pairs|resampling|warps|blending]
# On an aarch64 machine it only compares that CPU's level with the reference.
set -euo pipefail
cd "$(dirname "$0")/.."

# The clang of the Swift toolchain, which compiles the package too.
resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
clang=${resources%/lib/swift}/bin/clang
folder=.build/check-arm
mkdir -p "$folder"

# Compiles the program into the file $1, with the clang options that follow.
compile() {
  "$clang" -std=gnu11 -O2 -Wall -Wextra -Werror -I Sources/CUprightKernels/include \
    Sources/CUprightKernels/*.c Tests/Kernels/*.c -o "$@"
}

compile "$folder/native"
echo "check-arm: on this CPU"
"$folder/native" "$@" | tee "$folder/native.txt"
[ "$(uname -m)" != aarch64 ] || exit 0

Scripts/setup.sh arm
root=/usr/aarch64-linux-gnu
# Without GCC's startup files and libgcc, which C doesn't need, so that any release's C library is sufficient.
compile "$folder/aarch64" --target=aarch64-linux-gnu --sysroot="$root" -fuse-ld=lld -nostdlib \
  "$root"/lib/{crt1.o,crti.o,libc.so.6,libc_nonshared.a,crtn.o}
echo "check-arm: on an emulated Cortex-A53"
qemu-aarch64 -cpu cortex-a53 -L "$root" "$folder/aarch64" "$@" | tee "$folder/aarch64.txt"
diff "$folder/native.txt" "$folder/aarch64.txt" >&2 || {
  echo "check-arm: the CPUs write different bytes" >&2
  exit 1
}
echo "check-arm: clean, the same bytes on both"
