"""What a committed entry is told as: the event's name, and its CloudEvents body."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from ghost_addons.called import Called
from ghost_ledger.export import cloudevents
from ghost_ledger.recorder import Receipt

MEDIA_TYPE = "application/cloudevents+json"
"""Structured mode (CloudEvents 1.0, HTTP binding §3.2)."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One event; `body` is the same for every receiver and every attempt."""

    name: str
    id: str
    entry_hash: str
    body: bytes = field(repr=False)


def of(receipt: Receipt, called: Called) -> Notice | None:
    """Return what is told of a committed entry; None for entries that are no event."""
    leaf_hash = receipt.leaf_hash
    found = cloudevents.document(receipt.body, leaf_hash=leaf_hash, ts=receipt.ts, calls=called)
    if found is None:
        return None
    body = json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    return Notice(found["type"], found["id"], leaf_hash.hex(), body)
