"""What happened to a memory, from the entries of the ledger: when, what, by whom, from which program."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from sqlalchemy.engine import Connection

from ghost_core.errors import NotFoundError, UsageError
from ghost_memory.entered import Entered, entered
from ghost_memory.ids import MIN_PREFIX
from ghost_memory.limits import plain, shown

__all__ = ["latest", "of"]

_BEGINNING: Final = re.compile(r"[a-z0-9_-]+")


def of(connection: Connection, beginning: str) -> tuple[str, list[Entered]]:
    """Return the id of a memory, also one that is gone, and what was entered of it, oldest first.

    Raises NotFoundError `memory.unknown`, UsageError `memory.id` and `memory.ambiguous`.
    """
    wanted = plain(beginning).strip().lower()
    if len(wanted) < MIN_PREFIX or not _BEGINNING.fullmatch(wanted):
        raise UsageError(
            f"memory {shown(beginning)}: expected {MIN_PREFIX} or more characters of its id",
            code="memory.id",
        )
    every = list(entered(connection))
    subjects = {each.subject for each in every if each.change.startswith("memory.")}
    found = sorted(each for each in subjects if each.lower().startswith(wanted))
    found = [each for each in found if each.lower() == wanted] or found
    if not found:
        raise NotFoundError(
            f"memory {shown(beginning)}: no entry speaks of it", code="memory.unknown"
        )
    if len(found) > 1:
        raise UsageError(
            f"memory {shown(beginning)}: several begin like this", code="memory.ambiguous"
        )
    return found[0], [each for each in every if _concerns(each, found[0])]


def latest(connection: Connection, limit: int) -> tuple[list[Entered], int]:
    """Return the newest changes of anything, the newest first, and how many there are."""
    kept, total = deque[Entered](maxlen=limit), 0
    for each in entered(connection):
        kept.append(each)
        total += 1
    return [*reversed(kept)], total


def _concerns(each: Entered, memory_id: str) -> bool:
    """Tell whether a change is one of this memory, or of a link that ends at it."""
    is_link = each.change.startswith(("link.", "unlink."))
    return each.subject == memory_id or (is_link and each.reason == memory_id)
