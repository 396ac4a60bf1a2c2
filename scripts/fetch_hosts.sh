#!/bin/sh
# Fetches the three hosts of `make test-hosts` into .venv (about a gigabyte); a second run does nothing.
# Needs npm. Whatever cannot be fetched is named, and its tests are skipped by that name.
set -u
cd "$(dirname "$0")/.."

place=.venv/hosts
command -v npm >/dev/null 2>&1 || { echo "fetch_hosts: npm is not installed" >&2; exit 1; }
mkdir -p "$place"
for package in @anthropic-ai/claude-code @openai/codex opencode-ai; do
    if [ -d "$place/$package" ]; then continue; fi
    mkdir -p "$place/$package"
    npm install --prefix "$place/$package" --ignore-scripts --no-save --no-audit --no-fund "$package" >&2 ||
        { echo "fetch_hosts: $package could not be fetched" >&2; rm -rf "${place:?}/$package"; }
done
