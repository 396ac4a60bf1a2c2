"""What a session leaves to tools that know nothing of us: an in-toto statement, signed as a DSSE envelope.

It is made from the entries alone, byte by byte the same each time, so that the seal keeps the signature
only. Types, digest and envelope are those of in-toto Statement v1 and DSSE v1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ghost_ledger import canonical
from ghost_ledger.canonical import Value
from ghost_ledger.entry import Entry, session_name
from ghost_ledger.keys import Key, verify
from ghost_ledger.note import Vkey, encode_base64

__all__ = [
    "PAYLOAD_TYPE",
    "PREDICATE_TYPE",
    "STATEMENT_TYPE",
    "Sealed",
    "check",
    "encode",
    "envelope",
    "pae",
    "sign",
]

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:ghost:session:1"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
_PART_LIMIT: Final = 2 * canonical.BODY_LIMIT  # the fields of an entry and a little more


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a statement is made from: the last entry under the seal, the first one's leaf hash, the seal."""

    closed: Entry
    spawn: bytes
    size: int
    root: bytes


def encode(sealed: Sealed) -> bytes:
    """Return the statement (RFC 8785). Its own names are not those of GJ1; everything below them is GJ1."""
    closed = sealed.closed
    subject: Mapping[str, Value] = {
        "name": session_name(closed.log, closed.sid),
        "digest": {"sha256": sealed.root.hex()},
    }
    predicate: Mapping[str, Value] = {
        "log": closed.log,
        "session": closed.sid,
        "entries": sealed.size,
        "spawn": sealed.spawn.hex(),
        "closed_at": closed.ts,
        "closed": dict(closed.fields),
    }
    return b'{"_type":"%b","predicate":%b,"predicateType":"%b","subject":[%b]}' % (
        STATEMENT_TYPE.encode(),
        canonical.encode(predicate, limit=_PART_LIMIT),
        PREDICATE_TYPE.encode(),
        canonical.encode(subject, limit=_PART_LIMIT),
    )


def pae(payload: bytes) -> bytes:
    """Return what DSSE signs. No entry and no head begins like that."""
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)


def sign(key: Key, sealed: Sealed) -> str:
    """Return the signature of the statement in hex, as `session.seal` keeps it."""
    return key.sign(pae(encode(sealed))).hex()


def check(key: Vkey, sealed: Sealed, signature: str) -> None:
    """Demand that the session's key signed this statement; raises IntegrityError."""
    verify(key.public, pae(encode(sealed)), bytes.fromhex(signature))


def envelope(key: Vkey, sealed: Sealed, signature: str) -> dict[str, object]:
    """Return the DSSE envelope; the name of its key is the vkey without the key itself."""
    name = f"{key.name}+{key.key_id.hex()}"
    signed = {"keyid": name, "sig": encode_base64(bytes.fromhex(signature))}
    payload = encode_base64(encode(sealed))
    return {"payload": payload, "payloadType": PAYLOAD_TYPE, "signatures": [signed]}
