"""The actions of a session as outputs show them: an intent with its outcome, or a denial, is one action.

Computed from entries alone. An outcome belongs to the intent whose leaf hash it names, so retries and
equal ids cannot be mixed up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ghost_ledger.entry import Entry
from ghost_ledger.export.values import instant, sha256, signature
from ghost_ledger.export.words import hint

__all__ = ["ACTION_TYPES", "Signed", "actions", "counts"]

ACTION_TYPES: Final = frozenset({"action.intent", "action.outcome", "action.denied"})
STATUSES: Final = ("executed", "denied", "failed", "unknown")

type _Fields = Mapping[str, Any]  # fields of an entry: any value of GJ1


@dataclass(frozen=True, slots=True)
class Signed:
    """An entry with the signature and the leaf hash that its stored bytes have.

    `problem` says why its fields cannot be read; such an entry is never taken for an action.
    """

    entry: Entry
    signature: bytes
    leaf_hash: bytes
    problem: str = ""

    @property
    def type(self) -> str:
        """The type, or nothing if the fields cannot be read."""
        return "" if self.problem else self.entry.type


def actions(signed: Sequence[Signed], lost: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return executed, denied, failed and unknown actions in the order of their first entry.

    `lost` maps leaf hashes of intents, in hex, to the reason why their outcome is not known.
    """
    outcomes = {item.entry.fields.get("intent"): item for item in _of(signed, "action.outcome")}
    denials = {item.entry.id: item for item in _of(signed, "action.denied")}
    found = []
    for item in _of(signed, "action.intent"):
        key = item.leaf_hash.hex()
        refused = denials.pop(item.entry.id, None) if key not in outcomes else None
        started = _started(item, outcomes.get(key), lost.get(key))
        found.append(started | _refused(refused) if refused else started)
    found += [_denied(item) for item in denials.values()]
    return sorted(found, key=lambda action: int(action["seq"]))


def _of(signed: Iterable[Signed], type_: str) -> list[Signed]:
    return [item for item in signed if item.type == type_]


def counts(found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many actions ended in each way; a coalesced refusal counts as often as it came."""
    totals = dict.fromkeys(STATUSES, 0)
    for action in found:
        totals[action["status"]] += action["count"] or 1
    return totals


def _started(intent: Signed, outcome: Signed | None, lost: str | None) -> dict[str, Any]:
    asked: _Fields = intent.entry.fields
    came: _Fields = outcome.entry.fields if outcome else {}
    last = outcome or intent
    return {
        **_named(intent, params=asked.get("params"), response=came.get("response"), last=last),
        "status": came.get("status", "unknown"),
        "http_status": came.get("http_status"),
        "intent_signature": signature(intent.signature),
        "entry_hash": sha256(last.leaf_hash),
        "intent_hash": sha256(intent.leaf_hash),
        "forwarded_hash": sha256(asked.get("forwarded")),
        "request_body_hash": sha256(came.get("request_body")),
        **_place(intent, last, asked),
        "finished_at": instant(outcome.entry.ts) if outcome else None,
        "scheme": asked.get("scheme"),
        "body": asked.get("body"),
        "size": asked.get("size"),
        "credential": asked.get("credential"),
        "operation_id": asked.get("operation"),
        "attempt": asked.get("attempt"),
        **_numbers(came),
        "verdicts": [*asked.get("verdicts", []), *came.get("verdicts", [])],
        "denial": None,
        "count": None,
        "error": came.get("error") if outcome else lost,
    }


def _denied(item: Signed) -> dict[str, Any]:
    said: _Fields = item.entry.fields
    return {
        **_named(item, params=said.get("params"), response=None, last=item),
        "status": "denied",
        "http_status": said.get("code"),
        "intent_signature": None,
        "entry_hash": sha256(item.leaf_hash),
        "intent_hash": None,
        "forwarded_hash": None,
        "request_body_hash": None,
        **_place(item, item, said),
        "finished_at": instant(item.entry.ts),
        "scheme": None,
        "body": None,
        "size": None,
        "credential": None,
        "operation_id": None,
        "attempt": None,
        **_numbers({}),
        "verdicts": list(said.get("verdicts", [])),
        "denial": _denial(said),
        "count": said.get("count"),
        "error": said.get("error"),
    }


def _refused(item: Signed) -> dict[str, Any]:
    """Return what a refusal after the intent, for instance by the guard, changes of the action."""
    refusal = _denied(item)
    names = ("status", "http_status", "signature", "entry_hash", "finished_at", "denial", "error")
    return {name: refusal[name] for name in names}


def _named(
    first: Signed, *, params: str | None, response: str | None, last: Signed
) -> dict[str, Any]:
    """Return the fields of the seed, in its order."""
    fields: _Fields = first.entry.fields
    return {
        "action_id": first.entry.id,
        "tool": fields.get("tool"),
        "action": fields.get("action"),
        "timestamp": instant(first.entry.ts),
        "params_hash": sha256(params),
        "response_hash": sha256(response),
        "signature": signature(last.signature),
    }


def _place(first: Signed, last: Signed, fields: _Fields) -> dict[str, Any]:
    return {
        "policy_hash": sha256(fields.get("policy")),
        "seq": first.entry.seq,
        "last_seq": last.entry.seq,
        "timestamp_us": first.entry.ts,
        "method": fields.get("method"),
        "host": fields.get("host"),
        "port": fields.get("port"),
    }


def _numbers(came: _Fields) -> dict[str, Any]:
    names = (
        "latency_us",
        "sent",
        "received",
        "ended",
        "scrubbed",
        "peer",
        "frames_in",
        "frames_out",
    )
    return {**{name: came.get(name) for name in names}, "flags": list(came.get("flags", []))}


def _denial(said: _Fields) -> dict[str, Any]:
    refusals = [item for item in said.get("verdicts", []) if item.get("verdict") == "deny"]
    return {
        "code": said.get("code"),
        "error": said.get("error"),
        "stage": said.get("stage"),
        "rule": said.get("rule"),
        "message": refusals[-1].get("reason") if refusals else None,
        "hint": hint(said),
    }
