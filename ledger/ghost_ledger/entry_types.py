"""The table of entry types: every field of every entry, its kind, and whether it must be there.

The same table checks entries in plain Python and writes the JSON Schemas of `docs/formats/entries`
(`python -m ghost_ledger.entry_types DIR`). New fields mean a new version of that type.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ghost_ledger.canonical import Value
from ghost_ledger.field_kinds import (
    Choice,
    Field,
    Flag,
    Integer,
    Items,
    Kind,
    Pattern,
    Record,
    Text,
)

__all__ = ["COMMON", "ENTRY_TYPES", "EntryType", "json_schema", "write_schemas"]


@dataclass(frozen=True, slots=True)
class EntryType:
    """A type of entry: its name, the version of its fields, and the fields beside the common."""

    name: str
    fields: tuple[Field, ...]
    version: int = 1


HASH = Pattern("[0-9a-f]{64}")
SIGNATURE = Pattern("[0-9a-f]{128}")
SID = Pattern("gh_[0-9a-f]{32}")
ID = Pattern("[a-z]{2,8}_[0-9a-f]{32}")
ORIGIN = Pattern("(?!.*/s/)[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}")
VKEY = Pattern(r"[A-Za-z0-9._:/-]{1,255}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}")
DECIMAL = Pattern("-?[0-9]{1,18}([.][0-9]{1,18})?")
COUNT = Integer()
PORT = Integer(1, 65535)
STATUS = Integer(100, 599)
NAME = Text(256)
WORD = Text(64)
REASON = Text(300)
RULE = Text(1024)

COMMON = (
    Field("v", Integer(1)),
    Field("type", Pattern("[a-z]{1,32}[.][a-z]{1,32}")),
    Field("log", ORIGIN),
    Field("sid", SID),
    Field("seq", COUNT),
    Field("prev", HASH),
    Field("ts", COUNT),
    Field("id", ID),
)
CLOCK = Field("clk", Choice(("clamped",)), required=False)


def _may(name: str, kind: Kind) -> Field:
    return Field(name, kind, required=False)


def _type(name: str, *fields: Field) -> EntryType:
    """Every type may say that its time was clamped to the one before it."""
    return EntryType(name, (*fields, CLOCK))


_VERDICTS = Field(
    "verdicts",
    Items(
        Record(
            (
                Field("by", NAME),
                Field("rule", RULE),
                Field("verdict", Choice(("allow", "deny", "flag", "quarantine"))),
                _may("hash", HASH),
                _may("exit", Integer(-(2**31), 2**31 - 1)),
                Field("ms", COUNT),
                _may("reason", REASON),
            )
        ),
        64,
    ),
)
_SUMMARY = Record(
    (
        Field("tool", NAME),
        Field("action", NAME),
        Field("status", WORD),
        Field("count", COUNT),
    )
)
_STAGES = (
    "authority", "session", "scope", "address", "rule", "schema", "hook", "credential", "limit",
    "guard", "ledger",
)  # fmt: skip
_CREDENTIAL = (
    Field("credential", NAME),
    Field("reason", REASON),
    _may("key_hash", HASH),
    _may("expires_at", COUNT),
)
_APPROVAL = (Field("approval", ID), _may("by", NAME), _may("via", WORD), _may("reason", REASON))
_CHANGE = (
    Field("change", WORD),
    _may("project", NAME),
    _may("content", HASH),
    _may("by", NAME),
    _may("host", NAME),
    _may("session", SID),
    _may("reason", REASON),
)

_TYPES = (
    _type("log.init", Field("log_vkey", VKEY), Field("recorder", WORD)),
    _type(
        "session.spawn",
        Field("vkey", VKEY),
        Field("wire_key", HASH),
        Field("log_vkey", VKEY),
        Field("intent", HASH),
        Field("scopes", Items(Text(), 256)),
        Field("ttl_seconds", COUNT),
        Field("expires_at", COUNT),
        Field("boot", WORD),
        Field("deadline", COUNT),
        _may("token", HASH),
        _may("policy", HASH),
        Field("recorder", WORD),
        _may("parent", SID),
        _may("system", Flag()),
        _may("head", Record((Field("size", COUNT), Field("root", HASH)))),
    ),
    _type(
        "action.intent",
        Field("tool", NAME),
        Field("action", NAME),
        Field("scheme", WORD),
        Field("method", WORD),
        Field("host", NAME),
        Field("port", PORT),
        Field("params", HASH),
        Field("forwarded", HASH),
        _may("size", COUNT),
        Field("body", Choice(("none", "buffered", "streamed"))),
        Field("policy", HASH),
        _VERDICTS,
        _may("credential", NAME),
        _may("operation", NAME),
        _may("attempt", COUNT),
        _may("counted", Record((Field("bytes", COUNT), _may("sum", DECIMAL)))),
    ),
    _type(
        "action.outcome",
        Field("intent", HASH),
        Field("status", Choice(("executed", "failed"))),
        _may("http_status", STATUS),
        _may("response", HASH),
        _may("request_body", HASH),
        Field("sent", COUNT),
        Field("received", COUNT),
        Field("latency_us", COUNT),
        Field("ended", Choice(("complete", "aborted"))),
        Field("scrubbed", COUNT),
        _VERDICTS,
        _may("peer", NAME),
        _may("error", NAME),
        _may("frames_in", COUNT),
        _may("frames_out", COUNT),
        _may("flags", Items(WORD, 32)),
    ),
    _type(
        "action.denied",
        Field("tool", NAME),
        Field("action", NAME),
        Field("method", WORD),
        Field("host", NAME),
        _may("port", PORT),
        Field("code", STATUS),
        Field("error", NAME),
        Field("stage", Choice(_STAGES)),
        Field("rule", RULE),
        _VERDICTS,
        _may("params", HASH),
        _may("count", COUNT),
        _may("policy", HASH),
    ),
    _type(
        "action.unknown",
        Field("intent", HASH),
        Field("session", SID),
        Field("action", ID),
        Field("reason", REASON),
        Field("boot", WORD),
    ),
    _type(
        "session.closed",
        Field("reason", Choice(("evaporate", "ttl", "issue_failed", "exit"))),
        Field("reads", COUNT),
        Field("bytes_sent", COUNT),
        Field("bytes_received", COUNT),
        Field("summary", Items(_SUMMARY, 256)),
        _may("omitted", COUNT),
        Field("lived_seconds", COUNT),
    ),
    _type(
        "session.seal",
        Field("note", Text(4096)),
        Field("root", HASH),
        Field("size", Integer(1)),
        _may("dsse", SIGNATURE),
    ),
    _type(
        "session.abandoned",
        Field("session", SID),
        Field("root", HASH),
        Field("size", COUNT),
        Field("reason", REASON),
    ),
    _type("session.quarantined", Field("by", NAME), Field("reason", REASON), _may("action", ID)),
    _type("session.bypass", Field("peer", NAME), _may("process", NAME)),
    _type("credential.issued", *_CREDENTIAL),
    _type("credential.revoked", *_CREDENTIAL),
    _type("credential.rotated", *_CREDENTIAL),
    _type("credential.probed", Field("credential", NAME), Field("result", WORD)),
    _type(
        "approval.asked",
        Field("approval", ID),
        Field("tool", NAME),
        Field("action", NAME),
        Field("method", WORD),
        Field("host", NAME),
        Field("rule", RULE),
        _may("params", HASH),
        _may("expires_at", COUNT),
    ),
    _type("approval.given", *_APPROVAL),
    _type("approval.refused", *_APPROVAL),
    _type("approval.expired", *_APPROVAL),
    _type(
        "usage.seen",
        Field("provider", NAME),
        Field("model", NAME),
        Field("input_tokens", COUNT),
        Field("output_tokens", COUNT),
        _may("cached_tokens", COUNT),
        _may("action", ID),
        _may("cost_usd", DECIMAL),
        _may("prices", NAME),
    ),
    _type("memory.changed", Field("memory", NAME), *_CHANGE),
    _type("claim.changed", Field("claim", NAME), *_CHANGE),
    _type(
        "score.given",
        Field("subject", NAME),
        Field("score", DECIMAL),
        Field("passed", Flag()),
        _may("rubric", HASH),
        _may("workspace", HASH),
        _may("forgeable", Flag()),
    ),
    _type(
        "route.chosen",
        Field("policy", NAME),
        Field("model", NAME),
        _may("case", NAME),
        _may("reason", REASON),
    ),
    _type(
        "webhook.delivered",
        Field("webhook", NAME),
        Field("event", WORD),
        Field("entry", HASH),
        Field("attempts", COUNT),
        Field("http_status", STATUS),
        Field("ms", COUNT),
    ),
    _type(
        "webhook.failed",
        Field("webhook", NAME),
        _may("event", WORD),
        _may("entry", HASH),
        _may("count", COUNT),
        Field("attempts", COUNT),
        _may("http_status", STATUS),
        Field("error", NAME),
        Field("ms", COUNT),
    ),
    _type("run.event", Field("event", WORD), _may("detail", REASON), _may("count", COUNT)),
    _type(
        "payload.erased",
        Field("entry", HASH),
        Field("fields", Items(WORD, 64)),
        Field("basis", REASON),
        Field("actor", NAME),
    ),
    _type("recorder.gap", Field("count", COUNT), Field("reason", REASON)),
    _type(
        "log.pruned",
        Field("old_minimum", COUNT),
        Field("new_minimum", COUNT),
        Field("count", COUNT),
        Field("root", HASH),
    ),
    _type(
        "log.continued",
        Field("origin", ORIGIN),
        Field("size", COUNT),
        Field("root", HASH),
        Field("reason", REASON),
    ),
    _type(
        "log.key",
        Field("vkey", VKEY),
        Field("reason", REASON),
        _may("revoked", VKEY),
        _may("from_size", COUNT),
        _may("note", Text(2048)),
    ),
)

ENTRY_TYPES: Mapping[str, EntryType] = {item.name: item for item in _TYPES}


def json_schema(type_: str) -> dict[str, Value]:
    """Return the JSON Schema (draft 2020-12) of all fields of a registered type.

    Raises:
        KeyError: the type is not registered.
    """
    entry = ENTRY_TYPES[type_]
    closed = Record(COMMON + entry.fields).schema()
    properties = closed["properties"]
    fixed: dict[str, Value] = {"v": {"const": entry.version}, "type": {"const": type_}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:ghost:entry:{type_}:{entry.version}",
        "title": type_,
        **closed,
        "properties": {**properties, **fixed} if isinstance(properties, dict) else fixed,
    }


def write_schemas(folder: Path) -> None:
    """Write one `<type>.json` per entry type into an existing folder."""
    for name in ENTRY_TYPES:
        text = json.dumps(json_schema(name), indent=2, sort_keys=True) + "\n"
        (folder / f"{name}.json").write_text(text, "utf-8")


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
