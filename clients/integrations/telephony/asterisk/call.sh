#!/usr/bin/env bash
# Makes a real Asterisk call: one leg plays a recording, the other sends its audio to the bridge's
# AudioSocket. usage: call.sh RECORDING.wav AUDIOSOCKET_PORT (as root; Debian's Asterisk 22,
# unpacked by fetch.sh)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${ASTERISK_ROOT:-$here/../../../.cache/asterisk}
recording=$1
port=$2

etc=$root/etc/asterisk-call
mkdir -p "$etc" "$root/recordings" "$root"/var/{run,log,spool,lib}/asterisk "$root/dev" "$root/tmp"
for device in null zero random urandom; do [ -e "$root/dev/$device" ] || cp -a "/dev/$device" "$root/dev/"; done
ffmpeg -v error -y -i "$recording" -ar 8000 -ac 1 "$root/recordings/speech.wav"
cp "$here"/*.conf "$etc/"
sed -i "s/@PORT@/$port/" "$etc/extensions.conf"
ls "$root/usr/lib/x86_64-linux-gnu/asterisk/modules" >/dev/null

chroot "$root" /usr/sbin/asterisk -f -C /etc/asterisk-call/asterisk.conf >"$root/var/log/asterisk/console" 2>&1 &
asterisk=$!
trap 'kill "$asterisk" 2>/dev/null || true' EXIT
rx() { chroot "$root" /usr/sbin/asterisk -C /etc/asterisk-call/asterisk.conf -rx "$1"; }
for _ in $(seq 100); do rx 'core waitfullybooted' >/dev/null 2>&1 && break; sleep 0.1; done
rx 'channel originate Local/call@bridge extension s@speaker'
for _ in $(seq 300); do rx 'core show channels count' | grep -q '^0 active calls' && exit 0; sleep 0.2; done
echo 'The call did not end.' >&2
exit 1
