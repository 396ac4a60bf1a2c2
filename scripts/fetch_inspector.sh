#!/bin/sh
# Fetches the MCP Inspector into .venv, for the test that speaks to `ghost mcp` through it.
# Needs npm; a second run does nothing. Without it that test is skipped by name.
set -eu
cd "$(dirname "$0")/.."
. scripts/npm.sh

place=.venv/inspector
if [ -x "$place/node_modules/.bin/mcp-inspector" ]; then exit 0; fi
need_npm
install "$place" "@modelcontextprotocol/inspector@2"
