"""The bundle: everything about one session in one GJ1 file that verifies offline (`.ghost`).

Media type `application/vnd.ghost.bundle.v1+json`. Reading checks form and limits only; what the
parts prove is the business of `ghost_ledger.verify`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import canonical
from ghost_ledger.canonical import Value
from ghost_ledger.commitment import SALT_BYTES
from ghost_ledger.entry import LEAF_LIMIT
from ghost_ledger.note import NOTE_LIMIT, decode_base64, encode_base64
from ghost_ledger.tree import HASH_BYTES, PROOF_LIMIT, SIZE_LIMIT

__all__ = [
    "BUNDLE_LIMIT",
    "ENTRIES_LIMIT",
    "HANDOVERS_LIMIT",
    "Bundle",
    "Consistency",
    "Disclosure",
    "decode",
    "encode",
]

BUNDLE_LIMIT = 64 * 1024 * 1024
ENTRIES_LIMIT = 1_000_000
HANDOVERS_LIMIT = 1000
_VERSION = 1
_NOTES = ("seal", "spawn_proof", "seal_proof", "head")
_MEMBERS = {
    "v",
    "entries",
    *_NOTES,
    "handovers",
    "consistency",
    "disclosures",
    "hints",
    "timestamps",
}
_TOKENS_LIMIT = 16
_TOKEN_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A payload with the salt of its commitment: which entry, which field, which bytes."""

    seq: int
    field: str
    salt: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Consistency:
    """A proof that the head continues an older one, whose size it names."""

    size: int
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """The parts of a bundle; `hints` is for readers and never looked at by the verifier.

    `timestamps` are tokens of RFC 3161 (DER) over the note in `head`.
    """

    entries: tuple[bytes, ...]
    seal: bytes | None = None
    spawn_proof: str | None = None
    seal_proof: str | None = None
    head: bytes | None = None
    disclosures: tuple[Disclosure, ...] = ()
    hints: Mapping[str, Value] = field(default_factory=dict)
    consistency: Consistency | None = None
    timestamps: tuple[bytes, ...] = ()
    handovers: tuple[bytes, ...] = ()


def encode(bundle: Bundle) -> bytes:
    """Return the bytes of a bundle file; parts that are not there have no member.

    Raises:
        IntegrityError: over 64 MiB, or a hint outside GJ1.
    """
    members: dict[str, Value] = {"v": _VERSION, "entries": [_text(item) for item in bundle.entries]}
    parts = {
        "seal": bundle.seal,
        "spawn_proof": bundle.spawn_proof,
        "seal_proof": bundle.seal_proof,
        "head": bundle.head,
    }
    members |= {name: _text(part) for name, part in parts.items() if part is not None}
    if bundle.handovers:
        members["handovers"] = [_text(item) for item in bundle.handovers]
    if bundle.consistency is not None:
        members["consistency"] = _consistency_value(bundle.consistency)
    if bundle.disclosures:
        members["disclosures"] = [_disclosure_value(item) for item in bundle.disclosures]
    if bundle.timestamps:
        members["timestamps"] = [encode_base64(item) for item in bundle.timestamps]
    if bundle.hints:
        members["hints"] = dict(bundle.hints)
    return canonical.encode(members, limit=BUNDLE_LIMIT)


def decode(data: bytes) -> Bundle:
    """Read a bundle file of at most 64 MiB and a million entries.

    Raises:
        IntegrityError: not GJ1, not a bundle, or over a limit (codes `ledger.grammar`, `.bundle`).
        IncompleteError: a bundle of another version.
    """
    value = canonical.decode(data, limit=BUNDLE_LIMIT)
    version = value.get("v")
    if type(version) is not int or version < 1:
        raise _broken("no version")
    if version != _VERSION:
        raise IncompleteError(
            f"bundle: version {version} is unknown, expected {_VERSION}", code="ledger.unreadable"
        )
    unknown = value.keys() - _MEMBERS
    if unknown:
        raise _broken(f"no member {min(unknown)}")
    seal, spawn_proof, seal_proof, head = (_note(value, name) for name in _NOTES)
    return Bundle(
        entries=_entries(value.get("entries")),
        seal=None if seal is None else seal.encode(),
        spawn_proof=spawn_proof,
        seal_proof=seal_proof,
        head=None if head is None else head.encode(),
        disclosures=_disclosures(value.get("disclosures")),
        hints=_hints(value.get("hints")),
        consistency=_consistency(value.get("consistency")),
        timestamps=_timestamps(value.get("timestamps")),
        handovers=_handovers(value.get("handovers")),
    )


def _text(part: bytes | str) -> str:
    try:
        return part if isinstance(part, str) else part.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _broken("a note that is not utf-8") from error


def _entries(value: Value | None) -> tuple[bytes, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= ENTRIES_LIMIT:
        raise _broken(f"expected 1 to {ENTRIES_LIMIT} entries")
    return tuple(_bytes(item, LEAF_LIMIT) for item in value)


def _handovers(value: Value | None) -> tuple[bytes, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not 1 <= len(value) <= HANDOVERS_LIMIT:
        raise _broken(f"expected 1 to {HANDOVERS_LIMIT} handovers")
    return tuple(_bytes(item, NOTE_LIMIT) for item in value)


def _bytes(value: Value, limit: int) -> bytes:
    raw = value.encode() if isinstance(value, str) else b""
    if not 0 < len(raw) <= limit:
        raise _broken(f"expected a text of 1 to {limit} bytes")
    return raw


def _note(value: Mapping[str, Value], name: str) -> str | None:
    return _bytes(value[name], NOTE_LIMIT).decode() if name in value else None


def _hints(value: Value | None) -> Mapping[str, Value]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not value:
        raise _broken("hints: expected an object with members")
    return value


def _disclosures(value: Value | None) -> tuple[Disclosure, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not 1 <= len(value) <= ENTRIES_LIMIT:
        raise _broken(f"expected 1 to {ENTRIES_LIMIT} disclosures")
    return tuple(_disclosure(item) for item in value)


def _disclosure(value: Value) -> Disclosure:
    match value:
        case {"seq": int(seq), "field": str(name), "salt": str(salt), "data": str(data)} if (
            type(seq) is int
        ):
            item = Disclosure(seq, name, decode_base64(salt), decode_base64(data))
            if len(item.salt) == SALT_BYTES and _disclosure_value(item) == value:
                return item
    raise _broken(f"a disclosure is not seq, field, salt of {SALT_BYTES} bytes and data")


def _disclosure_value(item: Disclosure) -> Value:
    return {
        "seq": item.seq,
        "field": item.field,
        "salt": encode_base64(item.salt),
        "data": encode_base64(item.data),
    }


def _consistency(value: Value | None) -> Consistency | None:
    match value:
        case None:
            return None
        case {"size": int(size), "hashes": list(hashes)} if type(size) is int:
            raw = tuple(decode_base64(item) for item in hashes if isinstance(item, str))
            item = Consistency(size, raw)
            fits = 0 < size < SIZE_LIMIT and len(raw) <= PROOF_LIMIT
            right = fits and all(len(each) == HASH_BYTES for each in raw)
            if right and _consistency_value(item) == value:
                return item
    raise _broken(f"consistency is not a size and at most {PROOF_LIMIT} hashes")


def _consistency_value(item: Consistency) -> Value:
    return {"size": item.size, "hashes": [encode_base64(each) for each in item.hashes]}


def _timestamps(value: Value | None) -> tuple[bytes, ...]:
    if value is None:
        return ()
    if isinstance(value, list) and 1 <= len(value) <= _TOKENS_LIMIT:
        tokens = tuple(decode_base64(item) if isinstance(item, str) else b"" for item in value)
        if all(1 <= len(token) <= _TOKEN_BYTES for token in tokens):
            return tokens
    raise _broken(f"timestamps are not 1 to {_TOKENS_LIMIT} tokens of at most {_TOKEN_BYTES} bytes")


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"bundle: {reason}", code="ledger.bundle")
