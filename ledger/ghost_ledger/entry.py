"""Entries, the leaves of the ledger: a GJ1 body, one signature of the session key, one leaf hash.

The signature lies inside the leaf on purpose: to strip or swap it changes every root above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger import canonical
from ghost_ledger.canonical import Value
from ghost_ledger.entry_types import COMMON, ENTRY_TYPES, EntryType, json_schema
from ghost_ledger.note import Line, signature_line, split

__all__ = [
    "ENTRY_TYPES",
    "FIRST_PREV",
    "LEAF_LIMIT",
    "Entry",
    "EntryType",
    "build",
    "check_content",
    "json_schema",
    "leaf",
    "open_leaf",
    "parse",
    "parse_envelope",
    "session_name",
]

FIRST_PREV = "0" * 64
_NAMES = {
    name: frozenset(field.name for field in kind.fields) for name, kind in ENTRY_TYPES.items()
}
LEAF_LIMIT = 65_535  # the two length bytes of C2SP tlog-tiles


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as read: the common fields, the fields of its type, and the exact body bytes.

    `ts` is microseconds since the epoch, UTC; `prev` is the hex leaf hash of the entry before.
    """

    v: int
    type: str
    log: str
    sid: str
    seq: int
    prev: str
    ts: int
    id: str
    fields: Mapping[str, Value]
    body: bytes


def session_name(log: str, sid: str) -> str:
    """Return the key name of a session, which is also the origin of its seal."""
    return f"{log}/s/{sid}"


def build(
    type_: str,
    *,
    log: str,
    sid: str,
    seq: int,
    prev: str,
    ts: int,
    id_: str,
    fields: Mapping[str, Value],
) -> bytes:
    """Return the body of a new entry; `prev` in hex, `ts` in microseconds, at most 16 KiB.

    Raises:
        IntegrityError: the type is not registered, or a field is unknown, missing or wrong.
    """
    kind = ENTRY_TYPES.get(type_)
    if kind is None:
        raise _broken(f"type {type_} is not registered")
    common: dict[str, Value] = {
        "v": kind.version,
        "type": type_,
        "log": log,
        "sid": sid,
        "seq": seq,
        "prev": prev,
        "ts": ts,
        "id": id_,
    }
    _check_common(common)
    unknown = fields.keys() - _NAMES[type_]
    if unknown:
        raise _broken(f"{type_}: no field {min(unknown)}")
    _check_fields(kind, fields)
    return canonical.encode({**fields, **common})


def parse(body: bytes) -> Entry:
    """Read a body and check every field of its type.

    Raises:
        IntegrityError: not GJ1, or a field is missing or wrong.
        IncompleteError: the type, its version or a field is unknown here.
    """
    entry = parse_envelope(body)
    check_content(entry)
    return entry


def parse_envelope(body: bytes) -> Entry:
    """Read a body of any type and version: the common fields are checked, the others are not.

    Raises:
        IntegrityError: not GJ1, or a common field is missing or wrong.
    """
    match canonical.decode(body):
        case {
            "v": int(v),
            "type": str(type_),
            "log": str(log),
            "sid": str(sid),
            "seq": int(seq),
            "prev": str(prev),
            "ts": int(ts),
            "id": str(id_),
            **fields,
        } as value:
            _check_common(value)
            return Entry(v, type_, log, sid, seq, prev, ts, id_, fields, body)
        case _:
            raise _broken("a common field is missing or of another type")


def check_content(entry: Entry) -> None:
    """Check the fields of an entry against the table of its type.

    Raises:
        IncompleteError: the type, its version or a field is unknown here, so it cannot be read.
        IntegrityError: a field is missing or of another kind.
    """
    type_ = ENTRY_TYPES.get(entry.type)
    if type_ is None or entry.v != type_.version:
        raise _unreadable(f"{entry.type} of version {entry.v} is unknown")
    unknown = entry.fields.keys() - _NAMES[entry.type]
    if unknown:
        raise _unreadable(f"{entry.type} with a field {min(unknown)} is unknown")
    _check_fields(type_, entry.fields)


def leaf(body: bytes, signature: bytes, name: str, key_id: bytes) -> bytes:
    """Return the leaf: the complete note of body, empty line and one signature line."""
    return body + b"\n\n" + signature_line(name, key_id, signature).encode()


def open_leaf(data: bytes) -> tuple[bytes, Line]:
    """Cut a leaf into body and its only signature line; nothing is verified yet.

    Raises:
        IntegrityError: not a note of one line of text and one signature, or over 65,535 bytes.
    """
    if len(data) > LEAF_LIMIT:
        raise _broken(f"expected at most {LEAF_LIMIT} bytes, found {len(data)}")
    text, lines = split(data)
    body = text[:-1]
    if len(lines) != 1 or b"\n" in body:
        raise _broken("expected one line of text and one signature")
    return body, lines[0]


def _check_common(value: Mapping[str, Value]) -> None:
    for field in COMMON:
        if not field.kind.fits(value[field.name]):
            raise _broken(f"common field {field.name}: expected {field.kind.schema()}")


def _check_fields(type_: EntryType, fields: Mapping[str, Value]) -> None:
    for field in type_.fields:
        if field.name not in fields:
            if field.required:
                raise _broken(f"{type_.name}: field {field.name} is missing")
        elif not field.kind.fits(fields[field.name]):
            raise _broken(f"{type_.name}: field {field.name}: expected {field.kind.schema()}")


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"entry: {reason}", code="ledger.grammar")


def _unreadable(reason: str) -> IncompleteError:
    return IncompleteError(f"unreadable: {reason}", code="ledger.unreadable")
