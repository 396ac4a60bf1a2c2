#!/bin/sh
# Fetches the conformance suite of the protocol into .venv, for `make conformance`; a second run does nothing.
# Needs npm. The version is fixed: a newer one checks more, and what does not apply to us is listed by name.
set -eu
cd "$(dirname "$0")/.."

place=.venv/conformance
if [ -d "$place/node_modules/@modelcontextprotocol/conformance" ]; then exit 0; fi
command -v npm >/dev/null 2>&1 || { echo "fetch_conformance: npm is not installed" >&2; exit 1; }
mkdir -p "$place"
npm install --prefix "$place" --ignore-scripts --no-save --no-audit --no-fund \
    "@modelcontextprotocol/conformance@0.2.0-alpha.12" >&2
