"""What the store still holds behind the commitments of a session, each checked before it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ghost_ledger import commitment
from ghost_ledger.export.actions import Signed
from ghost_ledger.export.message import parse, readable
from ghost_ledger.export.values import instant, sha256
from ghost_ledger.note import encode_base64
from ghost_ledger.stored import StoredPayload
from ghost_ledger.verify import Axis

__all__ = ["EXCERPT_BYTES", "Erasure", "Erasures", "Kept", "Stock", "gather"]

EXCERPT_BYTES: Final = 4096
COMMITTED: Final = ("intent", "params", "forwarded", "response", "request_body")

type State = Literal["stored", "truncated", "erased", "absent", "mismatch"]


@dataclass(frozen=True, slots=True)
class Erasure:
    """Which entry says that a payload was erased, when, why and by whom."""

    leaf_hash: bytes
    ts: int
    basis: str
    actor: str

    def view(self) -> dict[str, str | None]:
        """Return it for an output."""
        return {
            "entry_hash": sha256(self.leaf_hash),
            "timestamp": instant(self.ts),
            "basis": self.basis,
            "actor": self.actor,
        }


type Erasures = Mapping[str, Mapping[str, Erasure]]
"""By the leaf hash of the entry that committed, and by field."""


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
    erasure: Erasure | None = None

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
            "erased": self.erasure.view() if self.erasure else None,
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
    """All payloads of a session, by entry and then by field."""

    kept: Mapping[int, Mapping[str, Kept]]

    def find(self, seq: int | None, field: str) -> Kept | None:
        """Return a payload that an entry committed to, or None."""
        return None if seq is None else self.kept.get(seq, {}).get(field)

    def disclosures(self, *seqs: int) -> list[dict[str, Any]]:
        """Return what can be disclosed of some entries."""
        found = [item for seq in sorted(set(seqs)) for item in self.kept.get(seq, {}).values()]
        return [item.disclosure() for item in found if item.state in {"stored", "truncated"}]

    def erased(self, *seqs: int) -> list[dict[str, Any]]:
        """Return what some entries committed to and an entry says is erased."""
        found = [item for seq in sorted(set(seqs)) for item in self.kept.get(seq, {}).values()]
        return [
            {"seq": item.seq, "field": item.field, **item.erasure.view()}
            for item in found
            if item.erasure
        ]

    def axis(self) -> Axis:
        """Return the axis `disclosure`: whatever is stored must fit its commitment."""
        every = [item for fields in self.kept.values() for item in fields.values()]
        wrong = next((item for item in every if item.state == "mismatch"), None)
        if wrong is not None:
            detail = f"entry {wrong.seq}: committed to another {wrong.field} than the one stored"
            return Axis("disclosure", "invalid", detail)
        whole = sum(item.state == "stored" for item in every)
        gone = sum(item.state == "erased" for item in every)
        counts = ((whole, "checked"), (gone, "erased"))
        detail = ", ".join(
            f"{count} payload{'' if count == 1 else 's'} {word}" for count, word in counts if count
        )
        return Axis("disclosure", "valid" if whole else "absent", detail)


def gather(signed: Iterable[Signed], payloads: Sequence[StoredPayload], erased: Erasures) -> Stock:
    """Match payloads with the commitments of the entries, and what is not there with its erasure."""
    stored = {(item.seq, item.field): item for item in payloads}
    kept: dict[int, dict[str, Kept]] = {}
    for item in signed:
        seq, gone = item.entry.seq, erased.get(item.leaf_hash.hex(), {})
        for field in COMMITTED:
            expected = item.entry.fields.get(field)
            # An outcome also has a field `intent`, which is no commitment but a leaf hash.
            if isinstance(expected, str) and (field != "intent" or seq == 0):
                row = stored.get((seq, field))
                kept.setdefault(seq, {})[field] = _keep(
                    (seq, field), expected, row, erasure=gone.get(field)
                )
    return Stock(kept)


def _keep(
    key: tuple[int, str], expected: str, row: StoredPayload | None, *, erasure: Erasure | None
) -> Kept:
    seq, field = key
    if row is None or row.data is None:
        return Kept(seq, field, "erased" if erasure else "absent", erasure=erasure)
    fits = len(row.salt) == commitment.SALT_BYTES and commitment.check(
        field, row.salt, row.data, expected
    )
    if not fits and not row.truncated:
        return Kept(seq, field, "mismatch")
    state: State = "stored" if fits else "truncated"
    size = len(row.data) if fits else row.size
    return Kept(seq, field, state, row.data, size, row.salt, row.media)
