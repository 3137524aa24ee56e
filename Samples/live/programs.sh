# What run.sh and webrtc/run.sh share: programs that run together. They source this file, with their `name` in messages.

answers() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Ends the script if a port is in use. The arguments are the names of the variables with the ports.
need_ports() {
  local port
  for port in "$@"; do
    ! answers "${!port}" || {
      echo "$name: port ${!port} is in use: stop the program that uses it, or set $port to another port" >&2
      exit 69
    }
  done
}

scratch=$(mktemp -d)
started=()
upright_process=
stop() {
  trap - EXIT
  # upright is stopped first, so that it can close its outputs and its rooms while the others still run.
  for process in $upright_process "${started[@]}"; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts a program that ends with this script, even if the script is killed.
begin() {
  setpriv --pdeathsig TERM "$@" &
  started+=($!)
}

# Starts upright.
begin_upright() {
  begin "$upright" "$@"
  upright_process=$!
}

# Waits until the program that was started last accepts connections on a port of loopback, or has ended.
await() {
  local deadline=$((SECONDS + 30))
  while [ $SECONDS -lt $deadline ]; do
    ! answers "$1" || return 0
    kill -0 "${started[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  echo "$name: no program accepts connections on port $1" >&2
  exit 69
}

# Waits until one of the programs ends, and ends the script.
await_end() {
  wait -n "${started[@]}" || true
  echo "$name: one of the programs ended; the others are stopped" >&2
  exit 1
}
