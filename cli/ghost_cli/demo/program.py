"""How this `ghost` is called from the shell that runs the demo: by name only where the shell finds it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

NAME = "ghost"

__all__ = ["called"]


def called() -> str:
    """Return `ghost` where PATH leads to this one, else its path, from here if it lies below."""
    ours = Path(sys.executable).with_name(NAME)
    found = shutil.which(NAME)
    if not ours.is_file() or (found is not None and ours.samefile(found)):
        return NAME
    below = ours.is_relative_to(Path.cwd())
    return shlex.quote(str(ours.relative_to(Path.cwd()) if below else ours))
