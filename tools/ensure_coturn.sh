#!/bin/sh
# Installs coturn, the TURN server of `make interop`, as root. Does nothing if it is there.
set -eu
command -v turnserver >/dev/null && exit 0
say() { echo "ensure_coturn: $*" >&2; }
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  say "coturn is missing and can only be installed by root with apt-get. Install it yourself."
  exit 1
fi
say "installing coturn"
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -q --no-install-recommends coturn; }
install >/dev/null 2>&1 || { apt-get update -q && install; } >/dev/null || { say "apt-get could not install coturn"; exit 1; }
