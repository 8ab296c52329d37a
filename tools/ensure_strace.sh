#!/bin/sh
# Installs strace for the tests that watch which sockets a program opens, as root. Does nothing if it is there.
set -eu
command -v strace >/dev/null || sh "$(dirname "$0")/apt_install.sh" strace
