"""The session that this process runs in, as its environment names it."""

from __future__ import annotations

import os

from ghost_core.ids import is_session_id


def session() -> str:
    """Return its id; empty where there is none, or none that could be one."""
    named = os.environ.get("GHOST_SESSION_ID", "")  # noqa: TID251  # reserved, never a setting
    return named if is_session_id(named) else ""
