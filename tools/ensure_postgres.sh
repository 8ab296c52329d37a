#!/bin/sh
# PostgreSQL's server programs for the tests of the store: nothing happens if they are there.
#
# Root on a system with apt gets them installed, without the cluster that Debian would make and start: the tests
# make their own in a temporary folder. Where that isn't possible a warning says what to do, and with CI=true it
# is a failure.
set -u

have_postgres() {
    for folder in /usr/lib/postgresql/*/bin $(echo "$PATH" | tr ':' ' '); do
        [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] && return 0
    done
    return 1
}

install_postgres() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
    echo "installing PostgreSQL for the tests of the store"
    export DEBIAN_FRONTEND=noninteractive
    conf=/etc/postgresql-common/createcluster.conf
    if [ ! -e "$conf" ]; then
        mkdir -p /etc/postgresql-common
        echo "create_main_cluster = false" >"$conf"
    fi
    log=$(mktemp)
    # Keep the file above; and an index that is out of date is fetched anew, once.
    set -- apt-get install -y -q --no-install-recommends -o Dpkg::Options::=--force-confold postgresql
    "$@" >"$log" 2>&1 || { apt-get update -q >>"$log" 2>&1 && "$@" >>"$log" 2>&1; } || tail -n 3 "$log" >&2
    rm -f "$log"
}

have_postgres && exit 0
install_postgres
have_postgres && exit 0
echo "WARNING: no PostgreSQL server here, so its store isn't tested; install the package postgresql" >&2
[ "${CI:-}" = true ] && exit 1
exit 0
