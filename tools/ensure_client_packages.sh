#!/bin/sh
# Installs the packages that the tests of clients/js need into build/clients: TypeScript, React and esbuild, as its lock
# file says.
# Does nothing if they are there.
set -eu
cd "$(dirname "$0")/.."
if [ -d build/clients/node_modules ] && cmp -s clients/js/package-lock.json build/clients/package-lock.json; then exit 0; fi
if ! command -v npm >/dev/null; then echo "ensure_client_packages: npm is missing: install Node.js 20 or newer" >&2; exit 1; fi
echo "ensure_client_packages: installing TypeScript, React and esbuild into build/clients" >&2
rm -rf build/clients
mkdir -p build/clients
cp clients/js/package.json clients/js/package-lock.json clients/js/.npmrc build/clients/
npm ci --prefix build/clients --ignore-scripts --no-audit --no-fund >&2 || { rm -rf build/clients; echo "ensure_client_packages: npm could not install them" >&2; exit 1; }
