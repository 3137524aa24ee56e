# Functions for scripts that make what is given to users (sourced): `make release` twice gives the same bytes.

script=$(basename "$0" .sh)
# The time of all files in archives, and of manual pages. The default is that of the last commit.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
artifacts=${ARTIFACTS:-$PWD/.build/release-artifacts}

fail() { echo "$script: $1" >&2; exit 69; }
say() { echo "$script: $1"; }

# The version, which Sources/Orientation/UprightVersion.swift has. Fails if another file that needs it has another one.
release_version() {
  local version header place
  version=$(sed -n 's/.*current = "\(.*\)".*/\1/p' Sources/Orientation/UprightVersion.swift)
  header=$(sed -n 's/^#define UPRIGHT_VERSION_[MP][A-Z]* //p' Sources/CUpright/Header/include/upright.h | paste -sd.)
  local image images=()
  for image in $(grep -ho 'image: upright-[a-z]*:.*' Packaging/containers/*.yaml | tr -d ' '); do
    images+=("Packaging/containers:${image##*:}")
  done
  for place in "upright.h:$header" "debian/changelog:$(dpkg-parsechangelog --show-field Version | sed 's/-[^-]*$//')" \
    "CHANGELOG.md:$(sed -n '/^## /{s/^## \([^ ]*\).*/\1/p;q}' CHANGELOG.md)" "${images[@]}"; do
    [ "${place#*:}" = "$version" ] || fail "${place%%:*} has version ${place#*:}, the library $version"
  done
  echo "$version"
}

# pack FOLDER: writes a folder as a tar archive, the same for the same files.
pack() {
  tar --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mode=u+w,go-w --mtime="@$SOURCE_DATE_EPOCH" \
    -C "$(dirname "$1")" -cf - "$(basename "$1")"
}
