#!/bin/sh
# Runs `make test` with every Python that is installed: on the PATH, or in pyenv's folder. Slow.
set -eu
cd "$(dirname "$0")/.."
for name in python3.11 python3.12 python3.13; do
    found=
    for candidate in "$name" "$HOME"/.pyenv/versions/*/bin/"$name"; do
        if "$candidate" --version >/dev/null 2>&1; then found=$candidate; break; fi
    done
    if [ -z "$found" ]; then echo "== $name is not installed: skipped"; continue; fi
    echo "== $name ($found)"
    make test PYTHON="$found"
done
