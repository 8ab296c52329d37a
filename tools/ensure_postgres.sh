#!/bin/sh
# Installs PostgreSQL's server programs for the tests of the store, as root. Does nothing if they are there.
#
# Debian would also create and start a cluster; that is turned off, because the tests make their own in a temporary folder.
set -eu
for folder in /usr/lib/postgresql/*/bin $(echo "$PATH" | tr ':' ' '); do
  if [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ]; then exit 0; fi
done
conf=/etc/postgresql-common/createcluster.conf
if [ "$(id -u)" = 0 ] && [ ! -e "$conf" ]; then
  mkdir -p "$(dirname "$conf")"
  echo "create_main_cluster = false" >"$conf"
fi
# --force-confold keeps the file above.
sh "$(dirname "$0")/apt_install.sh" postgresql -o Dpkg::Options::=--force-confold
