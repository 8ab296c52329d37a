#!/bin/sh
# Installs Debian's Chromium for the browser tests, as root. Does nothing if there is a Chromium already.
set -eu
found=${DUOLOGUE_CHROMIUM:-$(command -v chromium || true)}
if [ -n "$found" ] && [ -x "$found" ]; then exit 0; fi
say() { echo "ensure_chromium: $*" >&2; }
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  say "Chromium is missing and can only be installed by root with apt-get." \
    "Install it yourself, or name an existing one in DUOLOGUE_CHROMIUM."
  exit 1
fi
say "installing Chromium, about 100 MB"
export DEBIAN_FRONTEND=noninteractive
# On its own: together with other packages its dependencies may not be found.
install() { apt-get install -y -q --no-install-recommends chromium; }
install >/dev/null 2>&1 || { apt-get update -q && install; } >/dev/null || { say "apt-get could not install chromium"; exit 1; }
