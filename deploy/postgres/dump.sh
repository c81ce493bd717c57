#!/usr/bin/env bash
# dump.sh FOLDER CERTIFICATE [DATABASE]: an encrypted dump in FOLDER/svc-TIME.dump.cms, and the roles in FOLDER/svc-TIME.roles.sql.
# DATABASE is a name (svc) or a URL. Root uses the system user postgres for a name. After a failure there is no file.
set -euo pipefail
usage='Usage: dump.sh FOLDER CERTIFICATE [DATABASE]'
folder=$(realpath "${1:?$usage}") certificate=$(realpath "${2:?$usage}") database=${3:-svc}
umask 077
file=$folder/svc-$(date -u +%Y%m%dT%H%M%SZ)
trap 'rm -f "$file".*.part' EXIT
as=()
case $database in
  *://*) ;;
  *)
    database=dbname=$database
    [ "$(id -u)" != 0 ] || as=(runuser -u postgres --)
    ;;
esac
# The user postgres may not enter root's folder.
cd /
"${as[@]}" pg_dumpall --roles-only --no-role-passwords -d "$database" >"$file.roles.part"
"${as[@]}" pg_dump -Fc -d "$database" |
  openssl cms -encrypt -binary -stream -aes-256-gcm -outform DER -out "$file.dump.part" "$certificate"
sync "$file.roles.part" "$file.dump.part"
mv "$file.roles.part" "$file.roles.sql"
mv "$file.dump.part" "$file.dump.cms"
echo "$file.dump.cms"
