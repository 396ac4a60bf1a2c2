"""The step about time: who, of those that the caller trusts, saw the head of the bundle, and when."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger.verify.evidence import Evidence, bad_entry

if TYPE_CHECKING:
    from ghost_ledger.timestamp import Roots, Stamp  # its library is an extra

__all__ = ["TOLERANCE_SECONDS", "check_time"]

TOLERANCE_SECONDS: Final = 300
"""How far the recorder's clock may be ahead of the authority's."""


def check_time(evidence: Evidence, roots: Roots | None) -> str | None:
    """Time: a token over the head, under the caller's roots, that is not older than what the head holds."""
    head, tokens = evidence.bundle.head, evidence.bundle.timestamps
    if roots is None:
        return None
    if not tokens or head is None:
        raise IncompleteError("the bundle holds no time stamp of a head")
    digest = hashlib.sha256(head).digest()
    trusted: list[Stamp] = []
    refused = ""
    for place, token in enumerate(tokens):
        stamp = roots.read(token)
        if stamp.digest != digest:
            raise IntegrityError(f"time stamp {place}: is over other bytes than the head")
        try:
            roots.check(stamp)
        except IntegrityError as error:
            refused = error.message
        else:
            trusted.append(stamp)
    if not trusted:
        raise IntegrityError(refused)
    return _judge(evidence, min(trusted, key=lambda each: each.at_us), len(trusted))


def _judge(evidence: Evidence, first: Stamp, count: int) -> str:
    """Compare with the last entry that the head is shown to hold: the seal, else the spawn entry."""
    leaf = evidence.seal_leaf or evidence.leaves[0]
    seen, ts = first.at_us + first.accuracy_us, leaf.entry.ts
    if ts > seen + TOLERANCE_SECONDS * 1_000_000:
        late = f"is of {_said(ts)}, its head was stamped at {_said(first.at_us)}"
        raise bad_entry(leaf.entry.seq, late)
    return f"{first.signer} saw the head at {_said(first.at_us)}; {count} of {_all(evidence)}"


def _all(evidence: Evidence) -> str:
    count = len(evidence.bundle.timestamps)
    return f"{count} time stamp{'' if count == 1 else 's'}"


def _said(us: int) -> str:
    return datetime.fromtimestamp(us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
