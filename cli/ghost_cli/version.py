"""`ghost version`."""

from __future__ import annotations

from ghost_cli import output
from ghost_core.version import __version__


def version() -> None:
    """Print the version."""
    output.result({"schema": "ghost/version/v1", "version": __version__}, f"ghost {__version__}")
