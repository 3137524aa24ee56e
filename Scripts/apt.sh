# The packages of any release of Debian, without root and without installing them (sourced).

apt_folder=$PWD/.build/apt

# apt_of SUITE ARGUMENT...: apt-get with the lists of one release of Debian, in a folder of their own. apt checks their
# signature, and with it each file's hash.
apt_of() {
  local suite=$1 apt=$apt_folder/$1
  shift
  if [ ! -d "$apt/lists" ]; then
    mkdir -p "$apt"/{lists,archives}/partial
    local mirror=http://deb.debian.org/debian by='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    printf '%s\n' "deb $by $mirror $suite main" "deb-src $by $mirror $suite main" >"$apt/sources.list"
    apt_of "$suite" update >"$apt/log" 2>&1 || { cat "$apt/log" >&2; exit 69; }
  fi
  apt-get -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$apt" \
    -o Dir::State::Status=/dev/null -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt" \
    -o APT::Sandbox::User=root "$@"
}
