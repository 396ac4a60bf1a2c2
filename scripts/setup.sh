#!/bin/sh
# Makes .venv: finds Python >= 3.12, installs the locked packages by hash, then this project.
# A second run with unchanged inputs does nothing.
set -eu
cd "$(dirname "$0")/.."

stamp=.venv/.ready

say() { printf '%s\n' "setup: $*" >&2; }

# Answers whether the program is a Python that fits and, without uv, can make a virtual environment.
fits() {
    command -v "$1" >/dev/null 2>&1 || return 1
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1 || return 1
    have_uv || "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

have_uv() { command -v uv >/dev/null 2>&1; }

candidates() {
    printf '%s\n' "${PYTHON:-}" "python$(cat .python-version 2>/dev/null || echo 3.12)"
    if command -v pyenv >/dev/null 2>&1; then
        root=$(pyenv root 2>/dev/null || true)
        for folder in "$root"/versions/3.1[2-9]*; do printf '%s\n' "$folder/bin/python"; done
    fi
    printf '%s\n' python3.14 python3.13 python3.12 python3 python
    if have_uv; then uv python find --no-project '>=3.12' 2>/dev/null || true; fi
}

interpreter() {
    candidates | while IFS= read -r program; do
        if [ -n "$program" ] && fits "$program"; then
            "$program" -c 'import sys; print(sys.executable)'
            break
        fi
    done
}

# Text that changes when something that was installed changes; contents, not times.
inputs() {
    cksum requirements.lock pyproject.toml core/ghost_core/version.py
    pwd
}

# Without these lines nothing is to be seen for minutes.
step_1() { say "1/3 making the virtual environment"; }
step_2() { say "2/3 fetching and installing the locked packages, with pip some minutes"; }
step_3() { say "3/3 installing ghost itself"; }

install_with_uv() {
    step_1 && uv venv --quiet --allow-existing --python "$1" .venv &&
        step_2 && uv pip install --quiet --python .venv/bin/python --require-hashes \
            -r requirements.lock &&
        step_3 && uv pip install --quiet --python .venv/bin/python --no-deps --no-build-isolation -e .
}

install_with_pip() {
    step_1 && "$1" -m venv .venv &&
        step_2 && .venv/bin/python -m pip install --quiet --disable-pip-version-check \
            --require-hashes -r requirements.lock &&
        step_3 && .venv/bin/python -m pip install --quiet --disable-pip-version-check \
            --no-deps --no-build-isolation -e .
}

if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(inputs)" ]; then
    exit 0
fi

python=
if [ -x .venv/bin/python ] && .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 12))'
then
    python=$(.venv/bin/python -c 'import sys; print(sys._base_executable)')
fi
[ -n "$python" ] && fits "$python" || python=$(interpreter)

if [ -z "$python" ] && have_uv; then
    say "no Python >= 3.12 here, asking uv for one"
    uv python install --quiet 3.12 && python=$(uv python find --no-project 3.12) || python=
fi

if [ -z "$python" ]; then
    say "no Python >= 3.12 was found on PATH, in pyenv or through uv."
    say "install one, for example: uv python install 3.12, pyenv install 3.12,"
    say "or your system's packages python3.12 and python3.12-venv; or name it: make PYTHON=/path/to/python"
    exit 1
fi

say "using $python, installing into .venv (once)"
if ! { have_uv && install_with_uv "$python"; }; then
    if have_uv; then say "uv could not, trying pip"; fi
    if ! install_with_pip "$python"; then
        say "the packages of requirements.lock could not be installed."
        say "needed are a package index that pip can reach, and the module venv of $python."
        exit 1
    fi
fi
inputs > "$stamp"
say "done"
