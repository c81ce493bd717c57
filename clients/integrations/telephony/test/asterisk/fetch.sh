#!/usr/bin/env bash
# Unpacks Debian's Asterisk 22 (suite sid; bookworm has none) into .cache/asterisk, beside the system and not into it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../../../.." && pwd)/.cache/asterisk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$root" "$work"/{lists/partial,cache/archives/partial,debs}
# The mirror that this machine uses for its own packages.
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" >"$work/sources.list"
touch "$work/status"
apt=(apt-get -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::lists=$work/lists"
  -o "Dir::Cache=$work/cache" -o "Dir::State::status=$work/status")
"${apt[@]}" update -qq
"${apt[@]}" install -y --no-install-recommends --print-uris asterisk | grep -o "'http[^']*'" | tr -d "'" >"$work/uris"
(cd "$work/debs" && xargs -n 1 curl -sfO <"$work/uris")
for folder in bin sbin lib lib64; do mkdir -p "$root/usr/$folder" && ln -sfn "usr/$folder" "$root/$folder"; done
for package in "$work"/debs/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"; done
chroot "$root" /usr/sbin/asterisk -V
