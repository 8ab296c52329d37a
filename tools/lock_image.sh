#!/bin/sh
# Writes deploy/requirements.lock: every package of the server image, and setuptools, which builds ours, pinned and with
# hashes. Needs uv (pip install uv).
set -e
cd "$(dirname "$0")/.."
lock=deploy/requirements.lock
echo 'setuptools>=77' | uv pip compile --quiet --generate-hashes --no-header --python-version 3.12 --python-platform x86_64-unknown-linux-gnu \
  --extra cli --extra server --extra speech --extra flows --extra nlu --extra postgres --extra phone --extra llm \
  pyproject.toml - --output-file "$lock"
{ echo "# What the image installs, with hashes: sh tools/lock_image.sh writes this file."; cat "$lock"; } > "$lock.new"
mv "$lock.new" "$lock"
