#!/bin/sh
# Installs PostgreSQL's server programs for the tests of the store, as root. Does nothing if they are there.
#
# Debian would also create and start a cluster; that is turned off, because the tests make their own in a temporary folder.
set -u

have_postgres() {
    for folder in /usr/lib/postgresql/*/bin $(echo "$PATH" | tr ':' ' '); do
        [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] && return 0
    done
    return 1
}

install_postgres() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    echo "ensure_postgres: installing PostgreSQL" >&2
    export DEBIAN_FRONTEND=noninteractive
    conf=/etc/postgresql-common/createcluster.conf
    if [ ! -e "$conf" ]; then
        mkdir -p /etc/postgresql-common
        echo "create_main_cluster = false" >"$conf"
    fi
    log=$(mktemp)
    # Keep the file above. If the package index is out of date, fetch it and try once more.
    set -- apt-get install -y -q --no-install-recommends -o Dpkg::Options::=--force-confold postgresql
    "$@" >"$log" 2>&1 || { apt-get update -q >>"$log" 2>&1 && "$@" >>"$log" 2>&1; } || tail -n 3 "$log" >&2
    rm -f "$log"
}

have_postgres && exit 0
install_postgres
have_postgres && exit 0
echo "ensure_postgres: PostgreSQL is missing: install the package postgresql" >&2
exit 1
