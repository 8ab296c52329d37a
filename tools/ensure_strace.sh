#!/bin/sh
# Installs strace for the tests that watch which sockets a program opens, as root. Does nothing if it is there.
set -u

command -v strace >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "ensure_strace: installing strace" >&2
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp)
    # If the package index is out of date, fetch it and try once more.
    set -- apt-get install -y -q --no-install-recommends strace
    "$@" >"$log" 2>&1 || { apt-get update -q >>"$log" 2>&1 && "$@" >>"$log" 2>&1; } || tail -n 3 "$log" >&2
    rm -f "$log"
fi
command -v strace >/dev/null 2>&1 && exit 0
echo "ensure_strace: strace is missing: install the package strace" >&2
exit 1
