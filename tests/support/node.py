"""A Node that reads proxy variables: the system's if it is new enough, else the one that was fetched."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FETCHED = Path(__file__).parents[2] / ".venv" / "node" / "bin" / "node"
SECONDS = 60.0


def node() -> str:
    """Return the path of a Node with `NODE_USE_ENV_PROXY` (22.21, 24), or skip the test by name."""
    for candidate in (shutil.which("node"), str(FETCHED)):
        if candidate is not None and Path(candidate).exists() and _is_new_enough(candidate):
            return candidate
    pytest.skip("node >= 22.21 or >= 24 is not here: scripts/fetch_node.sh")


def _is_new_enough(program: str) -> bool:
    done = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode != 0:
        return False
    major, minor, *_ = (int(part) for part in done.stdout.strip().lstrip("v").split("."))
    return major >= 24 or (major == 22 and minor >= 21)
