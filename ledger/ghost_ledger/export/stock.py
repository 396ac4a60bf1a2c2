"""What the store still holds behind the commitments of a session, each checked before it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ghost_ledger import commitment
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.message import parse, readable
from ghost_ledger.note import encode_base64
from ghost_ledger.stored import StoredPayload
from ghost_ledger.verify import Axis

__all__ = ["EXCERPT_BYTES", "Kept", "Stock", "gather"]

EXCERPT_BYTES: Final = 4096
COMMITTED: Final = ("intent", "params", "forwarded", "response", "request_body")

type State = Literal["stored", "truncated", "erased", "absent", "mismatch"]


@dataclass(frozen=True, slots=True)
class Kept:
    """One payload: `size` bytes were committed, `data` is what is left of them."""

    seq: int
    field: str
    state: State
    data: bytes = b""
    size: int | None = None
    salt: bytes = b""
    media: str = ""

    def part(self, *, limit: int | None) -> dict[str, Any]:
        """Return it as a message for a page; of the body at most `limit` bytes."""
        shown = self.state in {"stored", "truncated"}
        head, blank, body = self.data.partition(b"\r\n\r\n")
        cut = shown and limit is not None and len(body) > limit
        message = parse(head + blank + (body[:limit] if cut else body))
        return {
            "state": self.state,
            "start": message.start if shown else None,
            "headers": [{"name": n, "value": v} for n, v in message.headers] if shown else [],
            "body": message.body if shown else None,
            "encoding": message.encoding,
            "size": self.size,
            "stored": len(self.data) if shown else None,
            "cut": cut,
        }

    def disclosure(self) -> dict[str, Any]:
        """Return salt and payload, so that anyone can check the commitment."""
        text, encoding = readable(self.data)
        return {
            "seq": self.seq,
            "field": self.field,
            "state": self.state,
            "salt": self.salt.hex(),
            "data": text if encoding == "utf-8" else encode_base64(self.data),
            "encoding": encoding if encoding == "utf-8" else "base64",
            "size": self.size,
            "media": self.media,
        }


@dataclass(frozen=True, slots=True)
class Stock:
    """All payloads of a session by entry and field."""

    kept: Mapping[tuple[int, str], Kept]

    def find(self, seq: int | None, field: str) -> Kept | None:
        """Return a payload that an entry committed to, or None."""
        return None if seq is None else self.kept.get((seq, field))

    def disclosures(self, *seqs: int | None) -> list[dict[str, Any]]:
        """Return what can be disclosed of some entries."""
        return [
            item.disclosure()
            for (seq, _), item in self.kept.items()
            if seq in seqs and item.state in {"stored", "truncated"}
        ]

    def axis(self) -> Axis:
        """Return the axis `disclosure`: whatever is stored must fit its commitment."""
        wrong = [item for item in self.kept.values() if item.state == "mismatch"]
        if wrong:
            first = wrong[0]
            return Axis(
                "disclosure",
                "invalid",
                f"entry {first.seq}: committed to another {first.field} than the one stored",
            )
        whole = sum(item.state == "stored" for item in self.kept.values())
        return (
            Axis("disclosure", "valid", f"{whole} payloads")
            if whole
            else Axis("disclosure", "absent")
        )


def gather(
    signed: Iterable[Signed], payloads: Sequence[StoredPayload], erased: Mapping[str, set[str]]
) -> Stock:
    """Match payloads with the commitments of the entries; `erased` maps leaf hashes to field names."""
    stored = {(item.seq, item.field): item for item in payloads}
    kept: dict[tuple[int, str], Kept] = {}
    for item in signed:
        gone = erased.get(item.leaf_hash.hex(), set())
        for field in COMMITTED:
            expected = item.entry.fields.get(field)
            if isinstance(expected, str):
                key = (item.entry.seq, field)
                kept[key] = _keep(key, expected, stored.get(key), gone=field in gone)
    return Stock(kept)


def _keep(key: tuple[int, str], expected: str, row: StoredPayload | None, *, gone: bool) -> Kept:
    seq, field = key
    if row is None or row.data is None:
        return Kept(seq, field, "erased" if gone else "absent")
    fits = len(row.salt) == commitment.SALT_BYTES and commitment.check(
        field, row.salt, row.data, expected
    )
    if not fits and not row.truncated:
        return Kept(seq, field, "mismatch")
    state: State = "stored" if fits else "truncated"
    size = len(row.data) if fits else row.size
    return Kept(seq, field, state, row.data, size, row.salt, row.media)
