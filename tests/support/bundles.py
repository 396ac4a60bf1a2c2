"""A small log in memory: honest sessions, entry by entry, and whatever a forger makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ghost_ledger import canonical, entry, seal, statement
from ghost_ledger.bundle import Bundle, Consistency
from ghost_ledger.checkpoint import Proof, encode_proof, sign_checkpoint
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey
from ghost_ledger.statement import Sealed
from ghost_ledger.tree import consistency_proof, inclusion_proof, leaf_hash, root

ORIGIN = "ghost.test/0193"
START = 1_790_000_000_000_000
TTL_SECONDS = 300
HASH = "ab" * 32


def key(number: int) -> SecretKey:
    """Return the same key for the same number, so that examples stay the same."""
    return SecretKey.from_seed(number.to_bytes(32, "big"))


def sid(number: int) -> str:
    return f"gh_{number:032x}"


def act(number: int) -> str:
    return f"act_{number:032x}"


def intent_fields(**more: Any) -> dict[str, Any]:
    return {
        "tool": "stripe",
        "action": "create_payment_intent",
        "scheme": "https",
        "method": "POST",
        "host": "api.stripe.com",
        "port": 443,
        "params": HASH,
        "forwarded": HASH,
        "size": 23,
        "body": "buffered",
        "policy": HASH,
        "verdicts": [],
        **more,
    }


def outcome_fields(intent: str, **more: Any) -> dict[str, Any]:
    return {
        "intent": intent,
        "status": "executed",
        "http_status": 200,
        "response": HASH,
        "sent": 23,
        "received": 100,
        "latency_us": 50_000,
        "ended": "complete",
        "scrubbed": 0,
        "verdicts": [],
        **more,
    }


def closed_fields(**more: Any) -> dict[str, Any]:
    return {
        "reason": "evaporate",
        "reads": 0,
        "bytes_sent": 0,
        "bytes_received": 0,
        "summary": [],
        "lived_seconds": 1,
        **more,
    }


class Log:
    """A log: its key, and the leaf hashes of all its sessions in order."""

    def __init__(self, origin: str = ORIGIN, number: int = 1) -> None:
        self.origin = origin
        self.key = key(number)
        self.vkey = Vkey(origin, self.key.public)
        self.leaves: list[bytes] = []

    def session(self, number: int = 7, **spawn: Any) -> Session:
        """Open a session and write its spawn entry."""
        return Session(self, number, spawn)

    def head(self, size: int | None = None) -> bytes:
        """Sign the head of the first `size` leaves, by default of all."""
        leaves = self.leaves[: len(self.leaves) if size is None else size]
        return sign_checkpoint(self.key, self.origin, len(leaves), root(leaves))

    def proof(self, leaf: bytes) -> str:
        """Prove that a leaf is in the tree of the present head."""
        index = self.leaves.index(leaf_hash(leaf))
        path = inclusion_proof(self.leaves, index, len(self.leaves))
        return encode_proof(Proof(index, path, self.head()))

    def consistency(self, size: int) -> Consistency:
        """Prove that the present head continues the one of an earlier size."""
        return Consistency(size, consistency_proof(self.leaves, size, len(self.leaves)))


class Session:
    """A session: every entry is signed, chained and put into the log at once."""

    def __init__(self, log: Log, number: int, spawn: Mapping[str, Any]) -> None:
        self.log = log
        self.sid = sid(number)
        self.name = entry.session_name(log.origin, self.sid)
        self.key = key(1000 + number)
        self.vkey = Vkey(self.name, self.key.public)
        self.notes: list[bytes] = []
        self.time = START
        self.seal: bytes | None = None
        self.add("session.spawn", self._spawn_fields() | dict(spawn))

    def _spawn_fields(self) -> dict[str, Any]:
        return {
            "vkey": self.vkey.format(),
            "wire_key": key(2000).public.hex(),
            "log_vkey": self.log.vkey.format(),
            "intent": HASH,
            "scopes": ["stripe"],
            "ttl_seconds": TTL_SECONDS,
            "expires_at": START + TTL_SECONDS * 1_000_000,
            "boot": "boot-1",
            "deadline": 1,
            "token": HASH,
            "policy": HASH,
            "recorder": "0.1.0",
        }

    @property
    def prev(self) -> str:
        return leaf_hash(self.notes[-1]).hex() if self.notes else entry.FIRST_PREV

    def add(self, type_: str, fields: Mapping[str, Any], number: int = 1, **common: Any) -> str:
        """Write an entry; return its leaf hash in hex. `common` overrides fields every entry has."""
        self.time += 1000
        usual = {
            "log": self.log.origin,
            "sid": self.sid,
            "seq": len(self.notes),
            "prev": self.prev,
            "ts": self.time,
            "id_": act(number),
        }
        return self.add_body(entry.build(type_, **(usual | common), fields=fields))

    def add_raw(self, **changes: Any) -> str:
        """Write an entry that no table allows: the last one's common fields, and these."""
        last = canonical.decode(entry.open_leaf(self.notes[-1])[0])
        common = {name: last[name] for name in ("log", "sid", "ts", "id")}
        mine = {"v": 1, "seq": len(self.notes), "prev": self.prev}
        return self.add_body(canonical.encode({**common, **mine, **changes}))

    def add_body(self, body: bytes) -> str:
        leaf = entry.leaf(body, self.key.sign(body + b"\n"), self.name, self.vkey.key_id)
        self.notes.append(leaf)
        self.log.leaves.append(leaf_hash(leaf))
        return leaf_hash(leaf).hex()

    def action(self, number: int = 1) -> Session:
        """Write an intent and its outcome."""
        intent = self.add("action.intent", intent_fields(), number)
        self.add("action.outcome", outcome_fields(intent), number)
        return self

    def close(self) -> Session:
        self.add("session.closed", closed_fields())
        return self

    def sealed(self) -> Sealed:
        """Return what the statement of the entries so far is made from."""
        hashes = [leaf_hash(note) for note in self.notes]
        last = entry.parse_envelope(entry.open_leaf(self.notes[-1])[0])
        return Sealed(last, hashes[0], len(hashes), root(hashes))

    def seal_up(self, **more: Any) -> Session:
        """Write the seal over all entries so far."""
        hashes = [leaf_hash(note) for note in self.notes]
        self.seal = seal.sign_seal(self.key, self.log.origin, self.sid, hashes)
        fields = {"note": self.seal.decode(), "root": root(hashes).hex(), "size": len(hashes)}
        self.add("session.seal", fields | more)
        return self

    def finish(self) -> Session:
        """Close and seal as a recorder does, with the signature of the statement."""
        self.close()
        return self.seal_up(dsse=statement.sign(self.key, self.sealed()))

    def bundle(self, **changes: Any) -> Bundle:
        """Return the bundle of this session under the present head; parts can be replaced."""
        parts: dict[str, Any] = {
            "entries": tuple(self.notes),
            "seal": self.seal,
            "spawn_proof": self.log.proof(self.notes[0]),
            "seal_proof": self.log.proof(self.notes[-1]) if self.seal else None,
            "head": self.log.head(),
        }
        return Bundle(**(parts | changes))
