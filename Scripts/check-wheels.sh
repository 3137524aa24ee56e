#!/usr/bin/env bash
# Installs the wheels of `make wheels` and runs the tests of Python with them, in a new environment; then uses them in a
# clean Debian 12, where FFmpeg is missing at first. Needs root for debootstrap and chroot, and a network.
#
# DEBIAN_SUITE and DEBIAN_MIRROR are those of check-deb.sh, whose clean system is used.
set -euo pipefail
cd "$(dirname "$0")/.."

source Scripts/debian-root.sh
use_clean_system

if [ "${1:-}" != --mounted ]; then
  wheels=(.build/wheels/upright_policy-*-manylinux_*.whl .build/wheels/upright-*-linux_*.whl)
  for wheel in "${wheels[@]}"; do [ -f "$wheel" ] || fail "there is no $wheel: run make wheels"; done
  environment=.build/wheels/environment
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/python" -m pip install -q --disable-pip-version-check -r Python/requirements.txt "${wheels[@]}"
  env -u PYTHONPATH "$environment/bin/python" -m pytest -q -p no:cacheprovider Tests/Python
  settings=()
  enter_namespaces
fi

mount_clean_system
apt -y install --no-install-recommends python3 python3-pip
mkdir "$root/tmp/wheels"
cp .build/wheels/*.whl Samples/clips/turning-sensor.* "$root/tmp/wheels/"
check "installed without a compiler, numpy and FFmpeg" '
  ! command -v cc ffmpeg
  python3 -m pip install -q --no-index --break-system-packages --root-user-action ignore /tmp/wheels/*.whl'

cat >"$root/tmp/frames.py" <<'END'
import upright_policy

frames = upright_policy.Frames("phone", frames="sensor", size="48x64")
frames.event({"at": 1, "device": "landscapeLeft"})
stored = bytes(range(64)) * 48
turned = frames.turn(memoryview(stored).cast("B", (48, 64)), time=0)
assert turned.frame.tolist() == [[column] * 48 for column in range(64)]
assert (frames.turn(memoryview(stored).cast("B", (48, 64)), time=1).width, upright_policy.__version__) != (48, "")
END
check "upright_policy turns frames" 'python3 /tmp/frames.py'

check "import upright says what to install" '
  if python3 -c "import upright" 2>/tmp/error; then exit 1; fi
  grep "^ImportError: .*libavformat.so.*apt-get install" /tmp/error
  sed -n "s/.*apt-get install \([a-z0-9 ]*\)\..*/\1/p" /tmp/error >/tmp/packages'
read -ra packages <"$root/tmp/packages"
apt -y install --no-install-recommends "${packages[@]}"
cat >"$root/tmp/file.py" <<'END'
import upright

folder = "/tmp/wheels"
report = upright.transcode(
    f"{folder}/turning-sensor.mp4", f"{folder}/out.mp4", frames="sensor", canvas="landscape", size="360p",
    events=open(f"{folder}/turning-sensor.jsonl").read())
assert report["output"]["frames"] == 300
assert upright.probe(f"{folder}/out.mp4")["streams"]
END
check "with ${packages[*]}: upright transcodes" 'python3 /tmp/file.py'
