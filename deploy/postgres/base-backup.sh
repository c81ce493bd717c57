#!/bin/sh
# base-backup.sh FOLDER CERTIFICATE URL: an encrypted base backup in FOLDER/base-TIME.tar.cms. Together with the WAL that
# archive-wal.sh keeps, it restores the database to any later moment. The machine that makes backups can't read them.
set -eu
folder=$1 certificate=$2 url=$3
file=$folder/base-$(date -u +%Y%m%dT%H%M%SZ).tar.cms
fifo=$(mktemp -d)/pipe
mkfifo "$fifo"
trap 'rm -rf "$(dirname "$fifo")" "$file.part"' EXIT
# A pipe would hide a failed pg_basebackup, so it is waited for by itself.
pg_basebackup -d "$url" -Ft -X none -c fast --no-manifest -D - >"$fifo" &
openssl cms -encrypt -binary -stream -aes-256-gcm -outform DER -out "$file.part" "$certificate" <"$fifo"
wait $!
sync "$file.part"
mv "$file.part" "$file"
echo "$file"
