"""Kills the process at a named point, once it was there so many times: `GHOST_CRASH=POINT:TIMES:SESSION`.

Python imports this file before anything else where its folder is in PYTHONPATH. The product knows nothing
of it: it wraps functions of the product from outside.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import wraps
from typing import Any

POINT, TIMES, SESSION = os.environ.get("GHOST_CRASH", ":1:").split(":")
_left = [int(TIMES)]
_types: set[str] = set()


def here(point: str, *, when: str = "") -> None:
    """Die, if this is the point, and entries of this type are in the batch."""
    if point != POINT or (when and when not in _types):
        return
    _left[0] -= 1
    if not _left[0]:
        os.kill(os.getpid(), signal.SIGKILL)


def wrap(
    owner: Any,
    name: str,
    *,
    before: Callable[..., None] | None = None,
    after: Callable[..., None] | None = None,
) -> None:
    """Have something done before or after a function."""
    inner = getattr(owner, name)

    @wraps(inner)
    def outer(*args: Any, **named: Any) -> Any:
        if before is not None:
            before(*args)
        result = inner(*args, **named)
        if after is not None:
            after(*args)
        return result

    setattr(owner, name, outer)


def install() -> None:
    """Wrap the functions at which there is a point."""
    from ghost_ledger import rows, tiles
    from ghost_ledger.batch import Batch
    from ghost_ledger.keeper import HeadKeeper
    from ghost_ledger.recorder import Recorder
    from ghost_ledger.session.custody import Custody

    def remember(batch: Batch) -> None:
        _types.clear()
        _types.update(row[4] for row in batch._entries)

    def committing(_: Batch) -> None:
        here("before the intent's commit", when="action.intent")
        here("before the seal's commit", when="session.seal")

    def entered(_: Recorder, *drafts: Any) -> None:
        if any(each.type == "action.outcome" for each in drafts):
            here("before the outcome")

    def destroyed(point: str) -> Callable[[Custody], None]:
        return lambda custody: here(point) if custody.folder.sid == SESSION else None

    wrap(Batch, "finish", before=remember, after=committing)
    wrap(HeadKeeper, "note", before=lambda *_: here("before the head memory", when="action.intent"))
    wrap(Recorder, "enter", before=entered)
    wrap(rows, "apply", before=lambda *_: here("between outcome rows", when="action.outcome"))
    wrap(tiles, "_write", after=lambda *_: here("in a tile"))
    wrap(Custody, "destroy", before=destroyed("before the wipe"), after=destroyed("after the wipe"))


if POINT:
    install()
