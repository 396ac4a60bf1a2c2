"""How wide a line may be: as COLUMNS or the terminal says; into a pipe or a file it is not shortened."""

from __future__ import annotations

import os
import sys

__all__ = ["columns", "cut"]


def columns() -> int | None:
    """Return how many characters fit into a line; None where nothing limits it."""
    said = os.environ.get("COLUMNS", "")  # noqa: TID251  # the terminal's, never a setting
    if said.isascii() and said.isdigit() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def cut(text: str, room: int | None) -> str:
    """Return a line that fits, its end given up for an ellipsis; at least that is left."""
    if room is None or len(text) <= room:
        return text
    return text[: max(0, room - 1)] + "…"
