#!/bin/sh
# Runs `make test` with every Python that is installed: on the PATH, or in pyenv's folder. Slow.
# After a failure the other Pythons are still tested; the exit code is then 1.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=
tested=
for name in python3.11 python3.12 python3.13; do
    found=
    for candidate in "$name" "$HOME"/.pyenv/versions/*/bin/"$name"; do
        if "$candidate" --version >/dev/null 2>&1; then found=$candidate; break; fi
    done
    if [ -z "$found" ]; then echo "== $name is not installed: skipped"; continue; fi
    echo "== $name ($found)"
    tested="$tested $name"
    make test PYTHON="$found" || failed="$failed $name"
done
if [ -z "$tested" ]; then echo "== no Python from 3.11 to 3.13 is installed: nothing was tested"; exit 1; fi
if [ -n "$failed" ]; then echo "== failed:$failed"; exit 1; fi
echo "== passed:$tested"
