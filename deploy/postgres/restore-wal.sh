#!/bin/sh
# restore_command = '/etc/postgresql/restore-wal.sh FOLDER KEY %f "%p"'
# Fetches one WAL segment. A segment that isn't there ends the recovery, so it fails quietly.
set -eu
folder=$1 key=$2 name=$3 path=$4
[ -e "$folder/$name.cms" ] || exit 1
openssl cms -decrypt -binary -inform DER -in "$folder/$name.cms" -inkey "$key" -out "$path"
