#!/usr/bin/env bash
# Installs what was built: the program `upright`, the live service `upright-serve`, the C libraries. Each program has
# its manual pages and completions; the service has its configuration, unit and user.
# Usage: install.sh [--remove] [upright|serve|libraries]...
# Without a name it installs each of the three that was built. `--remove` removes what it would install, but keeps a
# changed configuration.
#
# Environment:
#   PREFIX      /usr/local
#   DESTDIR     a folder that stands for /, for packages
#   SYSCONFDIR  /etc; the configuration is in SYSCONFDIR/upright and isn't replaced if it exists
#   STATEDIR    /var/lib/upright: the service's data, which is neither created nor removed
#   LIBDIR      PREFIX/lib
#   UPRIGHT     the program; default .build/release/upright. The service and the libraries are beside it
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${PREFIX-/usr/local}
etc=${SYSCONFDIR-/etc}
state=${STATEDIR-/var/lib/upright}
libdir=${LIBDIR-$prefix/lib}
destination=${DESTDIR-}
upright=${UPRIGHT:-.build/release/upright}
serve=$(dirname "$upright")/upright-serve
libraries=$(dirname "$upright")/lib
configuration=$etc/upright/upright.json

remove=
if [ "${1:-}" = --remove ]; then
  remove=1
  shift
  # An installed program knows its pages too.
  [ -x "$upright" ] || upright=$destination$prefix/bin/upright
  [ -x "$serve" ] || serve=$destination$prefix/bin/upright-serve
fi
parts=("$@")
if [ $# = 0 ]; then
  [ ! -x "$upright" ] || parts+=(upright)
  [ ! -x "$serve" ] || parts+=(serve)
  [ ! -e "$libraries/upright.h" ] || parts+=(libraries)
fi
[ ${#parts[@]} -gt 0 ] || { echo "install: nothing is built: run make build" >&2; exit 69; }
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

# Installs one file with a mode.
put() { install -D -m "$1" "$2" "$destination$3"; }

# Installs one file, with the folders in place of their names.
fill() {
  sed -e "s|@PREFIX@|$prefix|g" -e "s|@SYSCONFDIR@|$etc|g" -e "s|@STATEDIR@|$state|g" "$1" >"$temporary/filled"
  put 644 "$temporary/filled" "$2"
}

# Installs a program with its manual pages and completions.
install_program() {
  local program=$1 name page shell
  name=$(basename "$program")
  [ -x "$program" ] || { echo "install: $program isn't built: run make build" >&2; exit 69; }
  # The debugging information is as large as the program.
  install -D -s -m 755 "$program" "$destination$prefix/bin/$name"

  rm -rf "$temporary/man"
  Scripts/man.py "$program" "$temporary/man"
  for page in "$temporary"/man/*; do put 644 "$page" "$prefix/share/man/man${page##*.}/${page##*/}"; done

  for shell in "bash:bash-completion/completions/$name" "zsh:zsh/site-functions/_$name" \
    "fish:fish/vendor_completions.d/$name.fish"; do
    # bash-completion reads its file, and doesn't run it.
    "$program" --generate-completion-script "${shell%%:*}" | sed '1{/^#!/d}' >"$temporary/completions"
    put 644 "$temporary/completions" "$prefix/share/${shell#*:}"
  done
}

install_upright() {
  install_program "$upright"
  for file in README.md CHANGELOG.md LICENSE SECURITY.md; do
    put 644 "$file" "$prefix/share/doc/upright/$file"
  done
  for file in Samples/policies/*.json; do
    # The decisions that tests expect aren't documentation.
    [[ $file == *.expected.json ]] || put 644 "$file" "$prefix/share/doc/upright/policies/${file##*/}"
  done
}

install_serve() {
  install_program "$serve"
  fill Packaging/upright.service "$prefix/lib/systemd/system/upright.service"
  fill Packaging/sysusers.conf "$prefix/lib/sysusers.d/upright.conf"
  if [ ! -e "$destination$configuration" ]; then
    env -i "$serve" --data "$state" --print-config >"$temporary/upright.json"
    put 640 "$temporary/upright.json" "$configuration"
  fi
}

install_libraries() {
  [ -e "$libraries/upright.h" ] || { echo "install: $libraries isn't built: run make libraries" >&2; exit 69; }
  put 644 "$libraries/upright.h" "$prefix/include/upright.h"
  for file in "$libraries"/*.pc; do
    sed -e "s|^prefix=.*|prefix=$prefix|" -e "s|^libdir=.*|libdir=$libdir|" \
      -e "s|^includedir=.*|includedir=$prefix/include|" "$file" >"$temporary/pc"
    put 644 "$temporary/pc" "$libdir/pkgconfig/${file##*/}"
  done
  for file in "$libraries"/*.so*; do
    if [ -L "$file" ]; then
      cp -P "$file" "$destination$libdir/"
    else
      install -D -s -m 644 "$file" "$destination$libdir/${file##*/}"
    fi
  done
}

install_all() {
  for part in "${parts[@]}"; do
    case $part in
      upright | serve | libraries) "install_$part" ;;
      *) echo "usage: install.sh [--remove] [upright|serve|libraries]..." >&2; exit 64 ;;
    esac
  done
}

if [ -z "$remove" ]; then
  install_all
  # The configuration can contain secrets, so only root and the service read it.
  if [[ " ${parts[*]} " = *' serve '* ]] && [ -z "$destination" ] && command -v systemd-sysusers >/dev/null; then
    systemd-sysusers "$prefix/lib/sysusers.d/upright.conf"
    chgrp upright "$configuration"
  fi
  exit
fi
# The files to remove are those that are installed into an empty folder.
real=$destination
destination=$temporary/root
install_all
cd "$temporary/root"
if [ -e ".$configuration" ] && ! cmp -s ".$configuration" "$real$configuration"; then rm ".$configuration"; fi
find . ! -type d -printf '%P\n' | while IFS= read -r file; do rm -f "$real/$file"; done
find . -depth -type d -path '*upright*' -printf '%P\n' | while IFS= read -r folder; do
  rmdir --ignore-fail-on-non-empty "$real/$folder" 2>/dev/null || true
done
