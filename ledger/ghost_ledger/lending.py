"""Entries that one process writes and another one signs: what is asked for, and how an answer is checked.

The parts of the entries travel, not their bodies: each entry holds the hash of the one before, signature
included, so whoever signs several in a row builds them all anew, and signs what it has built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ghost_core.errors import DeniedError, GhostError, IntegrityError, UsageError
from ghost_ledger import entry, tree
from ghost_ledger.canonical import Value
from ghost_ledger.chain import ChainEnd, Signer
from ghost_ledger.keys import verify

__all__ = ["AT_ONCE", "Lender", "Lent", "Message", "Part", "Run", "UnsignedError", "sign_run"]

AT_ONCE = 64  # entries in one request, so that an owner is kept from its calls for some 5 ms

type Message = dict[str, object]


@dataclass(frozen=True, slots=True)
class Part:
    """What one entry says."""

    type: str
    id: str
    fields: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Run:
    """Entries of a session in a row: where the first one goes, their time (microseconds), what they say."""

    end: ChainEnd
    ts: int
    parts: Sequence[Part]

    def message(self) -> Message:
        """Return the run as it travels."""
        entries = [
            {"type": each.type, "id": each.id, "fields": dict(each.fields)} for each in self.parts
        ]
        return {"seq": self.end.seq, "prev": self.end.prev, "ts": self.ts, "entries": entries}

    @classmethod
    def of(cls, message: Mapping[str, object]) -> Run:
        """Read what another process sent; the fields of the entries are judged when they are built.

        Raises UsageError `control.malformed`.
        """
        match message:
            case {"seq": int(seq), "prev": str(prev), "ts": int(ts), "entries": list(entries)}:
                if len(entries) <= AT_ONCE:
                    return cls(ChainEnd(seq, prev), ts, [_part(each) for each in entries])
            case _:
                pass
        raise _malformed()


class UnsignedError(DeniedError):
    """Nobody signs for the session; the message says why, in a few words that an entry can hold."""

    @classmethod
    def of(cls, error: GhostError) -> UnsignedError:
        """Say what an error means for the one who asked; the words of the other side are not repeated."""
        if isinstance(error, UnsignedError):
            return error
        known = _WHY.get(error.code)
        code = error.code if _CODE.fullmatch(error.code) else "a code of its own"
        return cls(known or f"its owner refused with {code}", code=error.code)


_CODE = re.compile("[a-z_]{1,32}[.][a-z_]{1,32}")
_ENDED = "it has ended"
_SILENT = "its owner did not answer in time"
_WHY = {
    "ledger.key": "its key is not the one it was opened with",
    "ledger.signature": "its owner's signature does not fit",
    "session.abandoned": _ENDED,
    "session.evaporated": _ENDED,
    "session.expired": _ENDED,
    "session.key": "nobody owns it, and its key is not here",
    "session.owned": _SILENT,
    "session.owner_busy": "its owner has too many clients",
    "session.owner_lost": "its owner went away",
    "session.owner_silent": _SILENT,
    "session.sealed": _ENDED,
    "session.unknown": "this ledger does not know it",
}


class Lent:
    """A key of which only signatures are here: those its owner gave for the run at hand, each used once."""

    def __init__(self, public: bytes) -> None:
        self._public = public
        self._given: list[bytes] = []

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key."""
        return self._public

    def give(self, signatures: Iterable[bytes]) -> None:
        """Take the signatures for what will be signed next, in that order."""
        self._given = list(signatures)

    def sign(self, message: bytes) -> bytes:
        """Return the next signature; raises UnsignedError if it is not of this message."""
        signature = self._given.pop(0) if self._given else b""
        try:
            verify(self._public, message, signature)
        except IntegrityError as error:
            raise UnsignedError.of(error) from error
        return signature


class Lender(Protocol):
    """Where the signatures for a session come from whose key this process does not hold."""

    @property
    def signer(self) -> Signer:
        """The session's key by its public half."""
        ...

    def lend(self, run: Run) -> None:
        """Get the signatures of a run for the signer; raises UnsignedError if there are none to be had."""
        ...


def sign_run(signer: Signer, log: str, sid: str, run: Run) -> tuple[list[bytes], ChainEnd]:
    """Build and sign the entries of a run; return the signatures, and where the next entry would go.

    Raises IntegrityError `ledger.grammar` for an entry that could not be one.
    """
    signatures, end = [], run.end
    for part in run.parts:
        body = entry.build(
            part.type,
            log=log,
            sid=sid,
            seq=end.seq,
            prev=end.prev,
            ts=run.ts,
            id_=part.id,
            fields=part.fields,
        )
        signature = signer.key.sign(body + b"\n")
        leaf = tree.leaf_hash(entry.leaf(body, signature, signer.name, signer.key_id))
        signatures.append(signature)
        end = ChainEnd(end.seq + 1, leaf.hex())
    return signatures, end


def _part(value: Any) -> Part:
    match value:
        case {"type": str(type_), "id": str(id_), "fields": dict(fields)}:
            return Part(type_, id_, fields)
        case _:
            raise _malformed()


def _malformed() -> UsageError:
    return UsageError(
        f"sign: expected seq, prev, ts and at most {AT_ONCE} entries", code="control.malformed"
    )
