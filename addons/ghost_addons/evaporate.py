"""The end of a session: no new calls, the old ones settled, counts and seal entered, keys wiped.

Its answer is kept beside the logs, so that asking twice gives the same one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ghost_addons.session import LiveSession
from ghost_core.clock import Clock, rfc3339
from ghost_core.errors import NotFoundError
from ghost_core.files import write_file
from ghost_core.ids import is_session_id
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.session import residual
from ghost_ledger.session.closing import closed_fields

type Document = dict[str, object]


def conclude(
    session: LiveSession,
    *,
    home: Home,
    ledger: Ledger,
    recorder: Recorder,
    clock: Clock,
    secrets: Sequence[SecretBytes],
    reason: str = "evaporate",
) -> Document:
    """Close, seal and wipe a session whose calls are settled; returns the answer of `evaporate`.

    `secrets` are searched for in memory after the wipe, and wiped themselves. The seal is durable before the
    keys are wiped: a crash in between leaves a sealed session.
    """
    lived = max(0, (clock.now_us() - session.spawned_at_us) // 1_000_000)
    closed = closed_fields(
        recorder.engine, session.sid, session.tally, reason=reason, lived_seconds=lived
    )
    seal = recorder.seal(session.sid, closed)
    needles = [session.custody.key.seed(), *([session.token] if session.token else []), *secrets]
    destroyed = session.custody.destroy()
    document: Document = {
        "session_id": session.sid,
        "status": "evaporated",
        "lived_for_seconds": lived,
        "actions_executed": sum(
            row.count for row in ledger.actions(session.sid) if row.status == "executed"
        ),
        "residue_hash": "sha256_root_" + seal.root,
        "credentials_rotated": False,
        "ephemeral_key_destroyed": destroyed,
        "timestamp": rfc3339(clock.now_us()),
        "reason": reason,
        "root_signature": "ed25519_root_sig_" + seal.signature,
        "summary": closed["summary"],
        "revocation": [{"credential": name, "state": "static"} for name in sorted(session.used)],
        "memory_scan": _scan(needles),
    }
    keep(home, session.sid, document)
    return document


def _scan(needles: Sequence[SecretBytes]) -> str:
    found = residual.scan(needles)
    for needle in needles:
        needle.wipe()
    if found is None:
        return "unsupported"
    return f"residual:{found}" if found else "clean"


def keep(home: Home, sid: str, document: Document) -> None:
    """Keep the answer for whoever asks again."""
    folder = home.logs / "evaporated"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_file(folder / f"{sid}.json", json.dumps(document).encode(), mode=0o600)


def kept(home: Home, sid: str) -> Document:
    """Return the answer that was given before; raises NotFoundError if there is none."""
    if not is_session_id(sid):
        raise NotFoundError(
            f"session {sid!r}: expected gh_ and 32 hex digits", code="session.unknown"
        )
    file: Path = home.logs / "evaporated" / f"{sid}.json"
    try:
        document: Document = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise NotFoundError(
            f"session {sid}: its evaporation was not recorded on this machine",
            code="session.unknown",
        ) from error
    return document
