#!/bin/sh
# archive_command = '/etc/postgresql/archive-wal.sh FOLDER CERTIFICATE "%p" %f'
# Keeps one WAL segment, encrypted. PostgreSQL retries until it succeeds, and never overwrites a different one.
set -eu
folder=$1 certificate=$2 path=$3 name=$4
file=$folder/$name.cms
# Archived before, but PostgreSQL crashed before it noted that.
[ ! -e "$file" ] || exit 0
openssl cms -encrypt -binary -stream -aes-256-gcm -outform DER -in "$path" -out "$file.part" "$certificate"
sync "$file.part"
mv "$file.part" "$file"
