"""How far single entries can be relied on: what is wrong with their sessions, and with the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger.export.record import gather
from ghost_ledger.export.source import LogCount, Source
from ghost_ledger.reader import Ledger
from ghost_ledger.verify import Report

__all__ = ["Standing", "standing"]

NEEDED: Final = ("content", "signatures", "chain", "inclusion", "key", "head")


@dataclass(frozen=True, slots=True)
class Standing:
    """What is broken and what nobody can decide, by session; and what the log counts.

    A session that has no seal yet may hold more, but what it holds is signed and lies in the log, so its
    missing seal alone is nothing here.
    """

    broken: Mapping[str, str]
    undecided: Mapping[str, str]
    log: LogCount


def standing(ledger: Ledger, home: Home, sids: Iterable[str]) -> Standing:
    """Verify sessions under the log key of the home."""
    source, broken, undecided = Source(ledger), dict[str, str](), dict[str, str]()
    for sid in sids:
        try:
            report = gather(source, home, sid, key=None).report
        except IntegrityError as error:
            broken[sid] = error.message
            continue
        wrong, open_ = _invalid(report), _undecided(report)
        if wrong:
            broken[sid] = wrong
        elif open_:
            undecided[sid] = open_
    return Standing(broken, undecided, source.count())


def _invalid(report: Report) -> str:
    found = (axis for axis in report.axes if axis.state == "invalid")
    return next((f"{axis.name}: {axis.detail}" for axis in found), "")


def _undecided(report: Report) -> str:
    found = (report.axis(name) for name in NEEDED)
    return next((f"{each.name}: {each.detail}" for each in found if each.state != "valid"), "")
