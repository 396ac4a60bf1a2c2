"""A ledger to write into: recorders in a folder, sessions we own, drafts of every common kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Engine

from ghost_core import db, ids
from ghost_core.clock import Clock, SystemClock
from ghost_core.paths import Home
from ghost_ledger import commitment, entry, projections
from ghost_ledger.canonical import Value
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey
from ghost_ledger.projections import Difference
from ghost_ledger.recorder import Draft, Payload, Receipt, Recorder
from support.database import prepare

ZERO = "0" * 64
CLOSED: dict[str, Value] = {
    "reason": "evaporate",
    "reads": 0,
    "bytes_sent": 0,
    "bytes_received": 0,
    "summary": [],
    "lived_seconds": 1,
}


def url_of(folder: Path) -> str:
    """Return the database URL of a home folder."""
    return f"sqlite:///{folder / 'ghost.db'}"


def open_recorder(
    folder: Path, *, clock: Clock | None = None, busy_seconds: float = 5.0, linger_us: int = 0
) -> Recorder:
    """Open the recorder of a home folder."""
    prepare(folder)
    return Recorder.open(
        Home(folder),
        url_of(folder),
        clock=clock,
        busy_seconds=busy_seconds,
        linger_us=linger_us,
    )


@contextmanager
def raw(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database as any other program would, without our settings; autocommit."""
    connection = sqlite3.connect(folder / "ghost.db", isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def rows(folder: Path, query: str, *values: object) -> list[Any]:
    """Run one statement from outside; return its rows, of one column as plain values."""
    with raw(folder) as connection:
        found = connection.execute(query, values).fetchall()
    return [row[0] if len(row) == 1 else row for row in found]


def script(folder: Path, statements: str) -> None:
    """Run statements from outside."""
    with raw(folder) as connection:
        connection.executescript(statements)


def differences(engine: Engine) -> list[Difference]:
    """Return every derived value that the entries do not say."""
    with db.read(engine) as connection:
        return list(projections.by_session(connection))


def edit(folder: Path, statement: str, *values: object) -> None:
    """Change the database as its owner could, past every guard."""
    with raw(folder) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(statement, values)


@dataclass(frozen=True, slots=True)
class Owned:
    """A spawned session whose key is attached to the recorder."""

    recorder: Recorder
    sid: str
    key: SecretKey

    @property
    def vkey(self) -> str:
        """The session's verifier key line."""
        return Vkey(entry.session_name(self.recorder.origin, self.sid), self.key.public).format()

    def act(self) -> tuple[Receipt, Receipt]:
        """Record one call with its answer."""
        action = ids.action_id()
        (asked,) = self.recorder.append(intent(self.sid, action))
        (answered,) = self.recorder.append(outcome(self.sid, action, asked))
        return asked, answered


def spawned(recorder: Recorder, *, text: str = "deploy", scopes: tuple[str, ...] = ()) -> Owned:
    """Spawn a session and attach it."""
    owned = Owned(recorder, ids.session_id(), SecretKey.generate())
    recorder.attach(owned.sid, owned.key)
    recorder.append(spawn(owned, text=text, scopes=scopes))
    return owned


def sealed(recorder: Recorder, *, text: str = "deploy") -> str:
    """Return a session that called once, was refused once, and is over."""
    owned = spawned(recorder, text=text, scopes=("stripe",))
    owned.act()
    recorder.append(denied(owned.sid))
    recorder.seal(owned.sid, CLOSED)
    return owned.sid


def spawn(owned: Owned, *, text: str = "deploy", scopes: tuple[str, ...] = ()) -> Draft:
    """Draft the first entry of a session."""
    clock = SystemClock()
    payload = payload_of("intent", text.encode())
    fields: dict[str, Value] = {
        "vkey": owned.vkey,
        "wire_key": SecretKey.generate().public.hex(),
        "log_vkey": owned.recorder.log_vkey,
        "intent": payload.commitment,
        "scopes": list(scopes),
        "ttl_seconds": 300,
        "expires_at": clock.now_us() + 300_000_000,
        "boot": clock.boot_id(),
        "deadline": clock.boottime_us() + 300_000_000,
        "token": ZERO,
        "policy": ZERO,
        "recorder": "test",
    }
    extra = {"intent": text}
    return Draft(owned.sid, "session.spawn", ids.entry_id(), fields, (payload,), extra)


def intent(sid: str, action: str | None = None, *, data: bytes = b'{"amount":5000}') -> Draft:
    """Draft a call."""
    payload = payload_of("params", data)
    fields: dict[str, Value] = {
        "tool": "stripe",
        "action": "create",
        "scheme": "https",
        "method": "POST",
        "host": "api.stripe.com",
        "port": 443,
        "params": payload.commitment,
        "forwarded": payload.commitment,
        "size": len(data),
        "body": "buffered",
        "policy": ZERO,
        "verdicts": [],
    }
    return Draft(sid, "action.intent", action or ids.action_id(), fields, (payload,))


def outcome(sid: str, action: str, asked: Receipt, *, data: bytes = b'{"ok":true}') -> Draft:
    """Draft the answer to a call."""
    payload = payload_of("response", data)
    fields: dict[str, Value] = {
        "intent": asked.leaf_hash.hex(),
        "status": "executed",
        "http_status": 200,
        "response": payload.commitment,
        "sent": 15,
        "received": len(data),
        "latency_us": 1200,
        "ended": "complete",
        "scrubbed": 0,
        "verdicts": [],
    }
    return Draft(sid, "action.outcome", action, fields, (payload,))


def denied(sid: str) -> Draft:
    """Draft a refusal."""
    fields: dict[str, Value] = {
        "tool": "evil.example",
        "action": "POST",
        "method": "POST",
        "host": "evil.example",
        "code": 403,
        "error": "scope.none",
        "stage": "scope",
        "rule": "no scope names evil.example",
        "verdicts": [],
    }
    return Draft(sid, "action.denied", ids.action_id(), fields)


def payload_of(field: str, data: bytes) -> Payload:
    """Commit to bytes and keep them."""
    salt, committed = commitment.commit(field, data)
    return Payload(field, salt, committed, data, len(data), "application/json")
