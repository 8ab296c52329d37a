#!/bin/sh
# Fetches the pinned axe-core into build/axe/axe.min.js, unless it is there. The accessibility tests read it.
set -eu
VERSION=4.14.0
cd "$(dirname "$0")/.."
mkdir -p build/axe
if [ -f build/axe/axe.min.js ] && grep -q "axe v$VERSION" build/axe/axe.min.js; then exit 0; fi
(cd build/axe && npm pack --silent "axe-core@$VERSION" >/dev/null && tar -xzf "axe-core-$VERSION.tgz" --strip-components=1 package/axe.min.js)
rm -f "build/axe/axe-core-$VERSION.tgz"
