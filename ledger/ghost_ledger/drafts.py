"""What callers hand to the recorder, and what they get back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from ghost_ledger.canonical import Value

__all__ = ["Draft", "Payload", "Receipt", "SealReceipt"]


@dataclass(frozen=True, slots=True)
class Payload:
    """The bytes behind a commitment of an entry field; `data` None keeps only the salt.

    `size` is that of all committed bytes; `data` may be a shorter, `truncated` part.
    """

    field: str
    salt: bytes
    commitment: str
    data: bytes | None = dataclasses.field(repr=False)
    size: int
    media: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry before it has a place in the log.

    `extra` is not signed; it feeds derived columns: `intent`, the text of `session.spawn`.
    """

    sid: str
    type: str
    id: str
    fields: Mapping[str, Value]
    payloads: tuple[Payload, ...] = ()
    extra: Mapping[str, object] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A committed entry; `ts` microseconds UTC."""

    idx: int
    sid: str
    seq: int
    leaf_hash: bytes
    body: bytes
    signature: bytes
    ts: int


@dataclass(frozen=True, slots=True)
class SealReceipt:
    """The seal of a session: root and signature in hex, and the note that holds both."""

    root: str
    note: bytes
    signature: str
