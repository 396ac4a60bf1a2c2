"""Logs to measure: recorders on SQLite or PostgreSQL, drafts of entries, and one of a million, made once."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any

from ghost_core import ids
from ghost_core.paths import Home
from ghost_ledger import commitment, entry
from ghost_ledger.canonical import Value
from ghost_ledger.drafts import Draft, Payload, Receipt
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey
from ghost_ledger.recorder import Recorder

OUT = Path(__file__).parent / "out"
ZERO = "0" * 64
A_SESSION = 1000
CLOSED: dict[str, Value] = {
    "reason": "evaporate",
    "reads": 0,
    "bytes_sent": 0,
    "bytes_received": 0,
    "summary": [],
    "lived_seconds": 1,
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a log lies."""

    home: Home
    url: str

    @classmethod
    def on_sqlite(cls, folder: Path) -> Place:
        home = Home(folder)
        return cls(home, f"sqlite:///{home.database}")

    def recorder(self) -> Recorder:
        return Recorder.open(self.home, self.url, linger_us=0)


def spawned(recorder: Recorder) -> str:
    """Open a session that this process signs for."""
    key, sid = SecretKey.generate(), ids.session_id()
    recorder.attach(sid, key)
    salt, committed = commitment.commit("intent", b"bench")
    fields: dict[str, Value] = {
        "vkey": Vkey(entry.session_name(recorder.origin, sid), key.public).format(),
        "wire_key": SecretKey.generate().public.hex(),
        "log_vkey": recorder.log_vkey,
        "intent": committed,
        "scopes": ["bench"],
        "ttl_seconds": 86400,
        "expires_at": time.time_ns() // 1000 + 86400_000_000,
        "boot": "bench",
        "deadline": 0,
        "token": ZERO,
        "policy": ZERO,
        "recorder": "bench",
    }
    payload = Payload("intent", salt, committed, b"bench", 5)
    extra = {"intent": "bench"}
    recorder.append(Draft(sid, "session.spawn", ids.entry_id(), fields, (payload,), extra))
    return sid


def event(sid: str) -> Draft:
    """Draft an entry that has neither payloads nor derived rows: what every entry costs."""
    fields: dict[str, Value] = {"event": "bench.event", "detail": "x" * 200}
    return Draft(sid, "run.event", ids.entry_id(), fields)


def intent(sid: str, size: int = 1024) -> Draft:
    """Draft a call with a payload of so many bytes."""
    data = b"x" * size
    salt, committed = commitment.commit("params", data)
    fields: dict[str, Value] = {
        "tool": "stripe_create_charge",
        "action": "create_payment_intent",
        "scheme": "https",
        "method": "POST",
        "host": "api.stripe.com",
        "port": 443,
        "params": committed,
        "forwarded": committed,
        "size": size,
        "body": "buffered",
        "policy": ZERO,
        "verdicts": [{"by": "scope", "rule": "stripe_create_charge", "verdict": "allow", "ms": 0}],
        "credential": "stripe",
    }
    payload = Payload("params", salt, committed, data, size, "application/json")
    return Draft(sid, "action.intent", ids.action_id(), fields, (payload,))


def outcome(asked: Receipt, action: str) -> Draft:
    """Draft the answer to a call."""
    fields: dict[str, Any] = {
        "intent": asked.leaf_hash.hex(),
        "status": "executed",
        "http_status": 200,
        "response": ZERO,
        "sent": 1024,
        "received": 1024,
        "latency_us": 1200,
        "ended": "complete",
        "scrubbed": 0,
        "verdicts": [],
    }
    return Draft(asked.sid, "action.outcome", action, fields)


def append(recorder: Recorder, drafts: Sequence[Draft], group: int) -> None:
    """Append, a commit for each group."""
    for some in batched(drafts, group):
        recorder.append(*some)


def filled(recorder: Recorder, entries: int, draft: Callable[[str], Draft] = event) -> None:
    """Add about so many entries through the recorder, in sealed sessions of a thousand."""
    for _ in range(0, entries, A_SESSION):
        sid = spawned(recorder)
        drafts = (draft(sid) for _ in range(min(entries, A_SESSION) - 3))
        queued = [recorder.submit(*some) for some in batched(drafts, 250)]
        for each in queued:
            each.result()
        recorder.seal(sid, CLOSED)


@contextmanager
def big(entries: int) -> Iterator[Place]:
    """Give a log of at least so many entries; it is made once and kept in `bench/out`."""
    kept = OUT / f"ledger-{entries}"
    if not (kept / "whole").exists():
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        (OUT / ".gitignore").write_text("*\n", "utf-8")
        begun = time.perf_counter()
        with Place.on_sqlite(kept).recorder() as recorder:
            filled(recorder, entries)
            size = recorder.head[0]
        seconds = time.perf_counter() - begun
        print(f"made {size} entries in {seconds:.0f} s", file=sys.stderr)
        (kept / "whole").write_text(json.dumps({"entries": size, "seconds": seconds}), "utf-8")
    yield Place.on_sqlite(kept)
