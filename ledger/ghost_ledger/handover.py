"""The change of a log key: a note in which the old key names the new one, signed by both.

An entry alone cannot say it: whoever may append entries could name a key of his own. No checkpoint and no
entry is ever read as such a note, and the other way round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ghost_core.errors import IntegrityError
from ghost_ledger.keys import Key
from ghost_ledger.note import Vkey, open_note, sign_note, split

__all__ = ["Handover", "followers", "merged", "open_handover", "predecessors", "sign_handover"]

_TITLE = "ghost log key change v1"


@dataclass(frozen=True, slots=True)
class Handover:
    """Which key of a log goes, and which comes."""

    old: Vkey
    new: Vkey

    @property
    def text(self) -> bytes:
        """The four lines that both keys sign."""
        return f"{_TITLE}\n{self.old.name}\n{self.old.format()}\n{self.new.format()}\n".encode()


def sign_handover(old: Key, new: Key, origin: str) -> bytes:
    """Return the note with the signatures of both keys."""
    text = Handover(Vkey(origin, old.public), Vkey(origin, new.public)).text
    return merged(sign_note(old, origin, text), sign_note(new, origin, text))


def merged(first: bytes, second: bytes) -> bytes:
    """Return one note with the signature lines of two over the same text."""
    return first + second[len(split(second)[0]) + 1 :]


def open_handover(note: bytes) -> Handover:
    """Read such a note; both of the keys that it names must have signed it.

    Whether the old one is a key of the log, the caller knows.

    Raises:
        IntegrityError: code `ledger.handover`, no such note; or `ledger.signature`.
    """
    lines = split(note)[0].decode("utf-8").split("\n")
    if len(lines) != 5 or lines[0] != _TITLE:
        raise IntegrityError("key change: expected four lines", code="ledger.handover")
    found = Handover(Vkey.parse(lines[2]), Vkey.parse(lines[3]))
    if found.text != split(note)[0] or found.new.name != found.old.name or found.new == found.old:
        raise IntegrityError("key change: not of two keys of one log", code="ledger.handover")
    for key in (found.old, found.new):
        open_note(note, (key,))
    return found


def followers(
    notes: Sequence[bytes], keys: Iterable[Vkey], *, barred: Collection[Vkey] = ()
) -> tuple[Vkey, ...]:
    """Return the keys, and those that they handed over to, in the order of the notes.

    What a `barred` key says is not followed. A note of a key that nobody trusts is passed over.

    Raises:
        IntegrityError: a note that does not hold.
    """
    trusted = list(keys)
    for note in notes:
        found = open_handover(note)
        if found.old in trusted and found.old not in barred and found.new not in trusted:
            trusted.append(found.new)
    return tuple(trusted)


def predecessors(notes: Sequence[bytes], keys: Iterable[Vkey]) -> tuple[Vkey, ...]:
    """Return the keys, and those that came before them; both have signed that it was so."""
    known = list(keys)
    for note in reversed(notes):
        found = open_handover(note)
        if found.new in known and found.old not in known:
            known.append(found.old)
    return tuple(known)
