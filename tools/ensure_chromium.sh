#!/bin/sh
# A Chromium for the tests that use a real browser. Does nothing if there is one; installs Debian's as root.
set -eu
place=${DUOLOGUE_CHROMIUM:-$(command -v chromium || true)}
if [ -n "$place" ] && [ -x "$place" ]; then exit 0; fi
say() { echo "ensure_chromium: $*" >&2; }
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  say "there is no chromium, and it can be installed only by root, where there is apt-get." \
    "The browser tests will be skipped. Name one in DUOLOGUE_CHROMIUM to run them."
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# On its own: together with other packages its dependencies may not be found.
install() { apt-get install -y --no-install-recommends chromium >/dev/null; }
install || { apt-get update >/dev/null && install; } || say "chromium could not be installed; the browser tests will be skipped."
