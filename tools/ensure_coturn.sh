#!/bin/sh
# Installs coturn, the TURN server of `make interop`, as root. Does nothing if it is there.
set -eu
command -v turnserver >/dev/null || sh "$(dirname "$0")/apt_install.sh" coturn
