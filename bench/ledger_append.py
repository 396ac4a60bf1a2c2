"""Measure the append path: entries per second and CPU per entry at 1, 10 and 100 entries a commit.

    python bench/ledger_append.py [RESULT.json] [--entries 2000] [--payload 1024]

Each entry is an `action.intent` with one payload, signed and sealed, with its row in `actions`. The
process clock counts all threads, so callers, commitments and futures are included.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from ghost_core import ids
from ghost_core.paths import Home
from ghost_ledger import commitment, entry
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey
from ghost_ledger.recorder import Draft, Payload, Recorder

GROUPS = (1, 10, 100)
ZERO = "0" * 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", nargs="?", type=Path)
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--payload", type=int, default=1024)
    options = parser.parse_args()
    figures = [_measure(group, options.entries, options.payload) for group in GROUPS]
    text = json.dumps({"schema": "ghost/bench-ledger/v1", "append": figures}, indent=2) + "\n"
    if options.result is None:
        sys.stdout.write(text)
    else:
        options.result.write_text(text, "utf-8")


def _measure(group: int, entries: int, payload_bytes: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        with Recorder.open(home, f"sqlite:///{home.database}") as recorder:
            key, sid = SecretKey.generate(), ids.session_id()
            recorder.attach(sid, key)
            recorder.append(_spawn(recorder, sid, key))
            drafts = [_intent(sid, payload_bytes) for _ in range(entries)]
            wall, cpu = time.perf_counter(), time.process_time()
            for start in range(0, entries, group):
                recorder.append(*drafts[start : start + group])
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "group": group,
        "entries": entries,
        "payload_bytes": payload_bytes,
        "entries_per_second": round(entries / wall, 1),
        "cpu_us_per_entry": round(cpu / entries * 1e6, 1),
    }


def _spawn(recorder: Recorder, sid: str, key: SecretKey) -> Draft:
    salt, committed = commitment.commit("intent", b"bench")
    name = entry.session_name(recorder.origin, sid)
    fields = {
        "vkey": Vkey(name, key.public).format(),
        "wire_key": SecretKey.generate().public.hex(),
        "log_vkey": recorder.log_vkey,
        "intent": committed,
        "scopes": ["bench"],
        "ttl_seconds": 300,
        "expires_at": time.time_ns() // 1000 + 300_000_000,
        "boot": "bench",
        "deadline": 0,
        "token": ZERO,
        "policy": ZERO,
        "recorder": "bench",
    }
    payload = Payload("intent", salt, committed, b"bench", 5)
    return Draft(sid, "session.spawn", ids.entry_id(), fields, (payload,), {"intent": "bench"})


def _intent(sid: str, payload_bytes: int) -> Draft:
    data = b"x" * payload_bytes
    salt, committed = commitment.commit("params", data)
    fields = {
        "tool": "stripe_create_charge",
        "action": "create_payment_intent",
        "scheme": "https",
        "method": "POST",
        "host": "api.stripe.com",
        "port": 443,
        "params": committed,
        "forwarded": committed,
        "size": payload_bytes,
        "body": "buffered",
        "policy": ZERO,
        "verdicts": [
            {"by": "scope", "rule": "stripe_create_charge", "verdict": "allow", "ms": 0},
        ],
        "credential": "stripe",
    }
    payload = Payload("params", salt, committed, data, payload_bytes, "application/json")
    return Draft(sid, "action.intent", ids.action_id(), fields, (payload,))


if __name__ == "__main__":
    main()
