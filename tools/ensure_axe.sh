#!/bin/sh
# Downloads the pinned axe-core to build/axe/axe.min.js for the accessibility tests. Does nothing if it is there.
set -eu
VERSION=4.14.0
cd "$(dirname "$0")/.."
mkdir -p build/axe
if [ -f build/axe/axe.min.js ] && grep -q "axe v$VERSION" build/axe/axe.min.js; then exit 0; fi
if ! command -v npm >/dev/null; then echo "ensure_axe: npm is missing: install Node.js" >&2; exit 1; fi
echo "ensure_axe: downloading axe-core $VERSION" >&2
cd build/axe
npm pack --silent "axe-core@$VERSION" >/dev/null || { echo "ensure_axe: npm could not download axe-core" >&2; exit 1; }
tar -xzf "axe-core-$VERSION.tgz" --strip-components=1 package/axe.min.js
rm -f "axe-core-$VERSION.tgz"
