#!/usr/bin/env bash
# Proves what docs/scale.md and docs/cluster.md say of faults: transcodes clips in chunks on Ray and from an S3 server
# while nodes, processes and the store fail (Tests/Slow/scale.py), then runs live sessions on three nodes that are killed,
# cut off and drained (Tests/Slow/scale_live.py). SHORT=1 runs a shorter form, for CI. `check-scale.sh batch` and `live`
# run one of them. UPRIGHT names the program; by default it is the released one. `live` needs upright-serve beside it.
#
# Installs the packages of Python/scale.txt in .build/python-scale.
set -euo pipefail
cd "$(dirname "$0")/.."

part=${1:-all}
export UPRIGHT=${UPRIGHT:-$PWD/.build/release/upright}
# The libraries that were built with it. The Python package loads one of them.
kind=release
[[ $UPRIGHT != */debug/upright ]] || kind=debug
library=.build/$kind/lib/libupright.so.0
if [ ! -e "$library" ] || [ "$UPRIGHT" -nt "$library" ]; then
  [ "$kind" = release ] || Scripts/build.sh tests engine
  Scripts/libraries.sh "$kind"
fi
export PYTHONPATH=$PWD/Python/upright-policy:$PWD/Python/upright LD_LIBRARY_PATH=$PWD/.build/$kind/lib
export UPRIGHT_LIBRARIES=$LD_LIBRARY_PATH RAY_USAGE_STATS_ENABLED=0
# Each chunk starts Python: it isn't compiled again each time, and leaves nothing beside the sources.
export PYTHONPYCACHEPREFIX=$PWD/.build/python-cache

if [[ $part = all || $part = batch ]]; then
  folder=$PWD/.build/python-scale
  if ! cmp -s Python/scale.txt "$folder/scale.txt"; then
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-compile -r Python/scale.txt >&2
    cp Python/scale.txt "$folder/"
  fi
  # Ray writes much about nodes that were killed.
  "$folder/bin/python" Tests/Slow/scale.py 2>.build/scale.log || {
    cat .build/scale.log >&2
    exit 1
  }
fi

if [[ $part = all || $part = live ]]; then
  [ -x "$(dirname "$UPRIGHT")/upright-serve" ] || { echo "check-scale: upright-serve isn't built: run make build" >&2; exit 69; }
  PYTHON=$(Scripts/python.sh)
  export PYTHON
  # Networks and names of namespaces of its own, which end with it.
  spaces=(unshare --net --mount)
  [ "$(id -u)" = 0 ] || spaces+=(--user --map-root-user)
  # shellcheck disable=SC2016
  "${spaces[@]}" sh -c 'mount -t tmpfs none /run && ip link set lo up && exec "$@"' sh \
    "$PYTHON" Tests/Slow/scale_live.py
fi
