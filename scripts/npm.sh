# Read by the scripts that fetch a program with npm, once they stand at the root of the repository.

# need_npm: ends the script where there is none.
need_npm() {
    command -v npm >/dev/null 2>&1 || { echo "$(basename "$0" .sh): npm is not installed" >&2; exit 1; }
}

# install PLACE PACKAGE: puts a package and what it needs below PLACE; no script of theirs runs.
install() {
    mkdir -p "$1"
    npm install --prefix "$1" --ignore-scripts --no-save --no-audit --no-fund "$2" >&2
}
