"""A log of which the first tile can be pruned but for what must stay."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger.auditing import Audit, audit
from ghost_ledger.erasing import Wanted
from ghost_ledger.recorder import Recorder
from support.ledger import CLOSED, denied, sealed, spawned, url_of

EVER: Final = 2**60
CANARY: Final = "canary-of-a-session-that-goes"


@dataclass(frozen=True, slots=True)
class Grown:
    """Sessions by what becomes of them: gone, or left since they reach over the minimum or never ended."""

    gone: tuple[str, ...]
    crossing: str
    reaching: str
    unended: str
    entries: int


def grown(recorder: Recorder) -> Grown:
    """Write some 450 entries; the recorder's own session speaks of an erasure and of one without an end."""
    first = sealed(recorder, text=CANARY)
    erased = sealed(recorder)
    recorder.erase(Wanted(erased, "request", "alice"))
    unended, reaching = spawned(recorder), spawned(recorder)
    unended.act()
    reaching.act()
    gone = (first, erased, filled(recorder, 100), filled(recorder, 100))
    crossing = filled(recorder, 60)
    recorder.seal(reaching.sid, CLOSED)
    filled(recorder, 150)
    return Grown(gone, crossing, reaching.sid, unended.sid, 5 + 5 + 102 + 102)


def filled(recorder: Recorder, calls: int) -> str:
    """Return a session that is over, which was refused this many calls."""
    owned = spawned(recorder)
    recorder.append(*[denied(owned.sid) for _ in range(calls)])
    recorder.seal(owned.sid, CLOSED)
    return owned.sid


def audited(folder: Path, *, fast: bool = False) -> Audit:
    """Judge the log of a home folder."""
    engine = db.engine(url_of(folder))
    try:
        return audit(engine, Home(folder), fast=fast)
    finally:
        engine.dispose()


def wrong(found: Audit) -> dict[str, str]:
    """Return the axes that are invalid, and why."""
    return {axis.name: axis.detail for axis in found.axes if axis.state == "invalid"}
