#!/bin/sh
# Fetches the three hosts of `make test-hosts` into .venv (about a gigabyte); a second run does nothing.
# Needs npm. Whatever cannot be fetched is named, and its tests are skipped by that name.
set -u
cd "$(dirname "$0")/.."
. scripts/npm.sh

place=.venv/hosts
need_npm
for package in @anthropic-ai/claude-code @openai/codex opencode-ai; do
    if [ -d "$place/$package" ]; then continue; fi
    install "$place/$package" "$package" ||
        { echo "fetch_hosts: $package could not be fetched" >&2; rm -rf "${place:?}/$package"; }
done
