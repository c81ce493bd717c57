# Shared by the scripts in this folder. They need root, Debian 12 or newer, and Debian's package and npm registries.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Everything that the scripts write, except for what they print.
state=${SVC_TRY_DIR:-/var/tmp/svc-asr-try}
mkdir -p "$state"
export PATH="$root/node_modules/.bin:$PATH"

need() {
  local missing=()
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return
  apt-get -o DPkg::Lock::Timeout=600 update -qq
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Podman with storage and networks of its own. runc and cgroupfs also work where systemd isn't PID 1.
cat >"$state/containers.conf" <<'CONF'
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
CONF
cat >"$state/podman" <<SH
#!/bin/sh
export CONTAINERS_CONF="$state/containers.conf"
exec /usr/bin/podman --root "$state/storage" --runroot "$state/run" --network-config-dir "$state/networks" "\$@"
SH
chmod +x "$state/podman"
podman() { "$state/podman" "$@"; }

say() { printf '── %s\n' "$*"; }

# Waits for a fact: eventually SECONDS COMMAND...
eventually() {
  local until=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < until)) || { echo "Not within the time limit: $*" >&2; return 1; }
    sleep 0.2
  done
}
