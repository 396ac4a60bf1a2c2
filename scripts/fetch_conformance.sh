#!/bin/sh
# Fetches the conformance suite of the protocol into .venv, for `make conformance`; a second run does nothing.
# Needs npm. The version is fixed: a newer one checks more, and what does not apply to us is listed by name.
set -eu
cd "$(dirname "$0")/.."
. scripts/npm.sh

place=.venv/conformance
if [ -d "$place/node_modules/@modelcontextprotocol/conformance" ]; then exit 0; fi
need_npm
install "$place" "@modelcontextprotocol/conformance@0.2.0-alpha.12"
