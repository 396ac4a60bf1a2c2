"""Asking all witnesses of a log at once, and choosing the head that a bundle goes out with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.cosignature import WitnessKey, cosigned
from ghost_ledger.note import Vkey
from ghost_ledger.witness.asking import Reply, ask
from ghost_ledger.witness.kept import Cosigned, Kept

__all__ = ["Gathered", "Gathering", "Heads", "Place"]

type PostTo = Callable[[str, bytes], tuple[int, bytes]]
"""Send a request to a URL; returns status and body, or raises GhostError."""


class Heads(Protocol):
    """The log whose heads are to be cosigned."""

    def sign(self) -> tuple[Vkey, bytes]:
        """Return the log's key, and its newest head, signed and remembered."""
        ...

    def consistency(self, old: int, size: int) -> Sequence[bytes]:
        """Return the proof between two of its sizes."""
        ...

    def root_at(self, size: int) -> bytes:
        """Return the root that it had at a size, at most its present one."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """A witness: where it is asked, and under which key it signs."""

    url: str
    key: WitnessKey


@dataclass(frozen=True, slots=True)
class Gathered:
    """The head to go out with, which witnesses signed it, what each of them said, and kept evidence."""

    note: bytes
    signed: frozenset[WitnessKey]
    replies: tuple[Reply, ...]
    evidence: tuple[Path, ...]

    @property
    def conflicts(self) -> tuple[Reply, ...]:
        """The witnesses that know another history."""
        return tuple(each for each in self.replies if each.state == "conflict")


@dataclass(frozen=True, slots=True)
class Gathering:
    """The witnesses of a log, and how they are reached; waits as long as the slowest `post`."""

    kept: Kept
    places: tuple[Place, ...]
    post: PostTo

    def gather(self, log: Heads, *, needed: int = 0) -> Gathered:
        """Have the newest head cosigned; where an older one over `needed` leaves has more, return that.

        Raises:
            IntegrityError: the head cannot be signed here, or is no longer the remembered one.
            UnavailableError: code `heads.unwritable`.
        """
        with self.kept.held():
            vkey, note = log.sign()
            before = self.kept.load(vkey, self._keys)
            replies = self._asked(log, vkey, note, before)
            fresh = self._merged(vkey, note, replies, before)
            if fresh.signed:
                self.kept.save(vkey, fresh.note)
            evidence = self._evidence(replies)
        best = _better(fresh, before, log, needed)
        return Gathered(best.note, frozenset(best.signed), replies, evidence)

    @property
    def _keys(self) -> list[WitnessKey]:
        return [place.key for place in self.places]

    def _asked(
        self, log: Heads, vkey: Vkey, note: bytes, before: Cosigned | None
    ) -> tuple[Reply, ...]:
        size = open_checkpoint(note, [vkey]).size
        known = {} if before is None else dict.fromkeys(before.signed, before.head.size)

        def one(place: Place) -> Reply:
            old = min(known.get(place.key, 0), size)
            return ask(
                place.key,
                note,
                old,
                lambda start: log.consistency(start, size),
                lambda body: self.post(place.url, body),
            )

        with ThreadPoolExecutor(max_workers=len(self.places)) as pool:
            return tuple(pool.map(one, self.places))

    def _merged(
        self, vkey: Vkey, note: bytes, replies: Sequence[Reply], before: Cosigned | None
    ) -> Cosigned:
        """Put the cosignatures of this head together, earlier ones of it too."""
        head = open_checkpoint(note, [vkey])
        lines = {each.witness: each.line for each in replies if each.line}
        if before is not None and before.head == head:
            lines = {key: each.line for key, each in before.signed.items()} | lines
        whole = note + "".join(lines.values()).encode()
        return Cosigned(whole, head, cosigned(whole, self._keys))

    def _evidence(self, replies: Sequence[Reply]) -> tuple[Path, ...]:
        urls = {place.key: place.url for place in self.places}
        return tuple(
            self.kept.keep_evidence(urls[each.witness], each)
            for each in replies
            if each.state == "conflict"
        )


def _better(fresh: Cosigned, before: Cosigned | None, log: Heads, needed: int) -> Cosigned:
    """Return the earlier head where it has more cosignatures, covers enough, and is still the log's."""
    if before is None or len(before.signed) <= len(fresh.signed):
        return fresh
    if not needed <= before.head.size <= fresh.head.size:
        return fresh
    return before if log.root_at(before.head.size) == before.head.root else fresh
