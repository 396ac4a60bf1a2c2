"""The derived columns of one session against its signed entries; the entries are right."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlmodel import SQLModel

from ghost_core.errors import IntegrityError
from ghost_ledger.derivation import Change, Fact, derive
from ghost_ledger.export.source import Witnessed
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.verify import Axis

__all__ = ["Difference", "axis", "differences"]

type _Row = Mapping[str, Any]  # a derived row as the driver returns it


@dataclass(frozen=True, slots=True)
class Difference:
    """A column that says something else than the entries; None where a side has nothing."""

    table: str
    id: str
    column: str
    stored: str | None
    signed: str | None

    def view(self) -> dict[str, str | None]:
        """Return it for an output."""
        names = ("table", "id", "column", "stored", "signed")
        return {name: getattr(self, name) for name in names}


def differences(
    ledger: Ledger, sid: str, told: Sequence[Witnessed], *, intent: str | None
) -> tuple[Difference, ...]:
    """Derive the rows again and compare; `intent` is the disclosed text, None where it is gone.

    Raises:
        IntegrityError: the entries contradict each other, or a row cannot be read at all.
    """
    try:
        derived = derive(_facts(told, intent))
        stored = _stored(ledger, sid)
    except (KeyError, ValueError, TypeError) as error:
        raise IntegrityError(f"rows of {sid}: cannot be read", code="ledger.columns") from error
    wanted = {key: row for key, row in derived.items() if _belongs(row, sid)}
    found = [item for one in told for item in _of_entry(one)]
    for table, name in sorted({*wanted, *stored}, key=str):
        change, row = wanted.get((table, name)), stored.get((table, name))
        found += _compare(table, str(name), row, change, with_intent=intent is not None)
    return tuple(found)


def axis(found: Sequence[Difference]) -> Axis:
    """Return the axis `columns`."""
    if not found:
        return Axis("columns", "valid")
    first = found[0]
    return Axis(
        "columns",
        "invalid",
        f"{len(found)} differ, first {first.table}.{first.column} of {first.id}:"
        f" stored {first.stored!r}, signed {first.signed!r}",
    )


def _facts(told: Sequence[Witnessed], intent: str | None) -> Iterable[Fact]:
    key_hash = _key_hash(told)
    for item in told:
        stored, entry = item.stored, item.entry
        yield Fact(
            idx=stored.idx,
            sid=entry.sid,
            type=entry.type,
            id=entry.id,
            ts=entry.ts,
            fields=entry.fields,
            signature=stored.sig,
            leaf_hash=stored.leaf_hash,
            key_hash=key_hash,
            extra={"intent": intent} if entry.type == "session.spawn" and intent else {},
        )


def _of_entry(item: Witnessed) -> list[Difference]:
    """Compare the columns that the entry's own row repeats from its signed body."""
    names = ("sid", "seq", "type", "id", "ts")
    pairs = [(name, getattr(item.stored, name), getattr(item.entry, name)) for name in names]
    return [
        Difference("entries", str(item.stored.idx), name, str(stored), str(signed))
        for name, stored, signed in pairs
        if stored != signed
    ]


def _key_hash(told: Sequence[Witnessed]) -> str:
    vkey = Vkey.parse(str(told[0].entry.fields.get("vkey")))
    return hashlib.sha256(vkey.public).hexdigest()


def _stored(ledger: Ledger, sid: str) -> dict[tuple[str, str | int], _Row]:
    session = ledger.session(sid)
    rows: dict[tuple[str, str | int], _Row] = {}
    if session is not None:
        rows["sessions", sid] = _values(session)
    rows |= {("actions", row.action_id): _values(row) for row in ledger.actions(sid)}
    rows |= {("credentials_log", row.entry_idx): _values(row) for row in ledger.credentials(sid)}
    return rows


def _belongs(row: Change, sid: str) -> bool:
    return row.key == sid if row.table == "sessions" else row.values.get("session_id") == sid


def _values(row: SQLModel) -> _Row:
    return {name: _plain(value) for name, value in row.model_dump().items()}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return json.dumps(value) if isinstance(value, list) else value


def _compare(
    table: str, name: str, row: _Row | None, change: Change | None, *, with_intent: bool
) -> list[Difference]:
    if row is None or change is None:
        there = None if row is None else "a row"
        return [Difference(table, name, "*", there, "a row" if row is None else None)]
    keys = {"sessions": "session_id", "actions": "action_id", "credentials_log": "entry_idx"}
    skipped = {keys[table]} | (set() if with_intent else {"intent"})
    return [
        Difference(table, name, column, _text(value), _text(change.values.get(column)))
        for column, value in row.items()
        if column not in skipped and value != change.values.get(column)
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
