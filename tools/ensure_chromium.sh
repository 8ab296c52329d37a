#!/bin/sh
# Installs Debian's Chromium for the browser tests, about 100 MB, as root. Does nothing if there is a Chromium already.
set -eu
found=${DUOLOGUE_CHROMIUM:-$(command -v chromium || true)}
if [ -n "$found" ] && [ -x "$found" ]; then exit 0; fi
# On its own: together with other packages its dependencies may not be found.
sh "$(dirname "$0")/apt_install.sh" chromium && exit 0
echo "ensure_chromium: or name an existing Chromium in DUOLOGUE_CHROMIUM" >&2
exit 1
