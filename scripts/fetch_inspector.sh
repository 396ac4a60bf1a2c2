#!/bin/sh
# Fetches the MCP Inspector into .venv, for the test that speaks to `ghost mcp` through it.
# Needs npm; a second run does nothing. Without it that test is skipped by name.
set -eu
cd "$(dirname "$0")/.."

place=.venv/inspector
if [ -x "$place/node_modules/.bin/mcp-inspector" ]; then exit 0; fi
command -v npm >/dev/null 2>&1 || { echo "fetch_inspector: npm is not installed" >&2; exit 1; }
mkdir -p "$place"
npm install --prefix "$place" --ignore-scripts --no-save --no-audit --no-fund \
    "@modelcontextprotocol/inspector@2" >&2
