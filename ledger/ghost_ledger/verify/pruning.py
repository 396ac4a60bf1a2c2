"""What may be missing in a log: entries of sealed sessions, below the minimum of an entry `log.pruned`.

Of such a session the seal is left, and the leaf hashes, so that the tree can be built. Whose a hash was
nobody can tell any more; how many there were the seals say, and the statements must say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ghost_core.errors import IntegrityError
from ghost_ledger.entry import Entry
from ghost_ledger.note import Vkey
from ghost_ledger.seal import SMALLEST, open_seal
from ghost_ledger.verify.evidence import Leaf, bad_entry

__all__ = ["Gaps", "UnstatedError", "check_kept_seal"]

TILE: Final = 256  # of which every full one is stored, with the hashes of its leaves


class UnstatedError(IntegrityError):
    """A statement that does not hold, by the index of its entry."""

    def __init__(self, idx: int, message: str) -> None:
        super().__init__(message, code="ledger.evidence")
        self.idx = idx


@dataclass(frozen=True, slots=True)
class _Said:
    idx: int
    minimum: int
    count: int


@dataclass(slots=True)
class Gaps:
    """What is missing, what seals are left, and what was said of it.

    `claimed` are the minimums of which entries speak, before these have been read: they say where a hash may
    be taken from a tile. That they were right to is found out by `take` and `finish`. `vkey_of` tells the key
    of a session whose first entry is gone; a wrong one fails at its seal.
    """

    claimed: tuple[int, ...] = ()
    vkey_of: Callable[[str], str] = lambda _: ""
    missing: int = 0
    sessions: int = 0
    _roots: dict[int, bytes] = field(default_factory=dict)
    _said: list[_Said] = field(default_factory=list)
    _sealed: list[tuple[int, int]] = field(default_factory=list)

    @property
    def minimum(self) -> int:
        """Under which index entries may be missing, if all holds."""
        return max(self.claimed, default=0)

    @property
    def said(self) -> bool:
        """Tell whether an entry speaks of it."""
        return bool(self._said)

    def passed(self, size: int, root: Callable[[], bytes]) -> None:
        """Keep the root of the log at a size that a statement names."""
        if size in self.claimed:
            self._roots[size] = root()

    def seal(self, idx: int, size: int) -> None:
        """Take the seal of a session of which nothing else is there."""
        self._sealed.append((idx, size))
        self.sessions += 1

    def take(self, idx: int, said: Entry, spawn: Leaf) -> None:
        """Take the entry `log.pruned`; raises IntegrityError where it cannot be true."""
        old, new, count = (
            int(str(said.fields[name])) for name in ("old_minimum", "new_minimum", "count")
        )
        before = self._said[-1].minimum if self._said else 0
        if spawn.entry.fields.get("system") is not True:
            raise bad_entry(said.seq, "log.pruned in a session that is not the recorder's own")
        if old != before:
            raise bad_entry(said.seq, f"old minimum is {old}, expected {before}")
        if not old < new <= idx or new % TILE:
            raise bad_entry(said.seq, f"new minimum {new} is not in full tiles between both")
        if said.fields["root"] != self._roots.get(new, b"").hex():
            raise bad_entry(said.seq, f"the log had another root at size {new}")
        self._said.append(_Said(idx, new, count))

    def finish(self) -> str:
        """Demand that as many are missing as the statements say and the seals held.

        Raises:
            UnstatedError: they are not.
        """
        bounds = [0, *(said.minimum for said in self._said)]
        for said, (low, high) in zip(self._said, pairwise(bounds), strict=True):
            held = sum(size for idx, size in self._sealed if low <= idx < high)
            if held != said.count:
                reason = f"{said.count} entries were pruned, the seals that are left held {held}"
                raise UnstatedError(said.idx, f"says that {reason}")
        told = sum(said.count for said in self._said)
        if self.missing != told:
            idx = self._said[-1].idx if self._said else 0
            raise UnstatedError(idx, f"{told} entries were pruned, {self.missing} are missing")
        return (
            f"{told} entries of {self.sessions} sessions pruned below {self.minimum}:"
            " of their rows only what the seals say is judged"
        )


def check_kept_seal(leaf: Leaf, key: Vkey) -> int:
    """Judge a seal by itself, under the key of its session; return how many entries it was over."""
    entry = leaf.entry
    if leaf.problem is not None:
        raise leaf.problem
    note = str(entry.fields["note"]).encode()
    seal = open_seal(note, (key,))
    expected = {"root": seal.root.hex(), "size": seal.size}
    if (seal.log, seal.sid) != (entry.log, entry.sid):
        raise bad_entry(entry.seq, "the seal is of another session")
    if entry.seq != seal.size or seal.size < SMALLEST:
        raise bad_entry(entry.seq, f"the seal counts {seal.size} entries")
    if any(entry.fields[name] != value for name, value in expected.items()):
        raise bad_entry(entry.seq, "session.seal does not repeat the seal note, root and size")
    return seal.size
