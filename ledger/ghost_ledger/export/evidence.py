"""What a view says of its evidence: the verdict, the seal, the place in the log, and how anyone checks it."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from typing import Any

from ghost_core.errors import GhostError
from ghost_ledger.checkpoint import decode_proof, parse_checkpoint
from ghost_ledger.export.record import Record
from ghost_ledger.export.values import fingerprint, sha256
from ghost_ledger.note import Vkey, split

__all__ = ["how", "log", "public", "root_signature", "verdict"]


def verdict(record: Record) -> dict[str, Any]:
    """Return what the verifier found, axis by axis."""
    report = record.report
    axes = {axis.name: {"state": axis.state, "detail": axis.detail} for axis in report.axes}
    return {"result": report.verdict, "exit_code": report.exit_code, "axes": axes}


def root_signature(record: Record) -> str | None:
    """Return the signature of the seal; None without a seal that can be read."""
    if record.bundle.seal is None:
        return None
    try:
        lines = split(record.bundle.seal)[1]
    except GhostError:
        return None
    return "ed25519_root_sig_" + lines[0].signature.hex()


def public(vkey: object) -> str | None:
    """Return the public key in a verify key."""
    try:
        return "ed25519_public_" + Vkey.parse(str(vkey)).public.hex()
    except GhostError:
        return None


def log(record: Record, spawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return which log the session stands in, and where."""
    bundle = record.bundle
    head = None
    if bundle.head is not None:
        head = parse_checkpoint(split(bundle.head)[0])
    return {
        "origin": record.signed[0].entry.log if record.signed else None,
        "vkey": spawn.get("log_vkey"),
        "size": head.size if head else None,
        "root_hash": sha256(head.root) if head else None,
        "spawn_index": _place(bundle.spawn_proof),
        "seal_index": _place(bundle.seal_proof),
    }


def how(record: Record) -> dict[str, Any]:
    """Return how anyone can check the session, with the key that this verdict rests on."""
    key, sid = record.pin.key, record.sid
    shown = shlex.quote(key) if key else "KEY"
    return {
        "commands": [
            f"ghost bundle {sid} -o {sid}.ghost",
            f"ghost verify {sid}.ghost --key {shown}",
        ],
        "key": key,
        "fingerprint": _fingerprint(key),
        "source": record.pin.source,
    }


def _place(proof: str | None) -> int | None:
    return None if proof is None else decode_proof(proof).index


def _fingerprint(key: str | None) -> str | None:
    """Return the SHA-256 of the public key; a key in another form has none."""
    try:
        public = Vkey.parse(key or "").public
    except GhostError:
        return None
    return fingerprint(hashlib.sha256(public).digest())
