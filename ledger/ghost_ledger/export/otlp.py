"""The actions of a session as spans: one trace per session, in the JSON encoding of OTLP 1.x.

A view for tracing back ends, never evidence: each span names the entry that is. The names of tools are those
of the GenAI conventions, which are in development; `SEMANTICS` pins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ghost_core.version import __version__

__all__ = ["SEMANTICS", "spans"]

SEMANTICS: Final = "https://opentelemetry.io/schemas/1.37.0"
_CLIENT: Final = 3
_ERROR: Final = 2
_FIRST_ERROR: Final = 400  # HTTP conventions: for a client 4xx and 5xx are errors

type _View = Mapping[str, Any]


def spans(view: _View) -> dict[str, Any]:
    """Return the spans of a session's view as one export request (`ExportTraceServiceRequest`)."""
    resource = {
        "service.name": "ghost",
        "service.version": __version__,
        "ghost.session.id": view["session_id"],
        "ghost.session.verdict": view["verdict"]["result"],
        "ghost.session.root_signature": view["root_signature"],
        "ghost.log.origin": view["log"]["origin"],
    }
    scope = {
        "scope": {"name": "ghost.ledger", "version": __version__},
        "schemaUrl": SEMANTICS,
        "spans": [_span(view["session_id"], action) for action in view["actions"]],
    }
    return {
        "resourceSpans": [
            {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}
        ]
    }


def _span(sid: str, action: _View) -> dict[str, Any]:
    started = int(action["timestamp_us"]) * 1000
    took = int(action["latency_us"] or 0) * 1000
    span = {
        "traceId": sid.removeprefix("gh_"),
        "spanId": str(action["entry_hash"]).removeprefix("sha256_")[:16],
        "name": _name(action),
        "kind": _CLIENT,
        "startTimeUnixNano": str(started),
        "endTimeUnixNano": str(started + took),
        "attributes": _attributes(_said(action)),
    }
    trouble = _trouble(action)
    return span if trouble is None else {**span, "status": {"code": _ERROR, "message": trouble}}


def _name(action: _View) -> str:
    return f"execute_tool {action['tool']}" if action["tool"] else str(action["method"])


def _said(action: _View) -> dict[str, Any]:
    status = action["http_status"]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": action["tool"]}
    return {
        **(tool if action["tool"] else {}),
        "gen_ai.tool.call.id": action["action_id"],
        "http.request.method": action["method"],
        "server.address": action["host"],
        "server.port": action["port"],
        "http.response.status_code": status if isinstance(status, int) else None,
        "error.type": _trouble(action),
        "ghost.action": action["action"],
        "ghost.status": action["status"],
        "ghost.count": action["count"],
        "ghost.entry.seq": action["seq"],
        "ghost.entry.hash": action["entry_hash"],
        "ghost.entry.signature": action["signature"],
    }


def _trouble(action: _View) -> str | None:
    """Return what went wrong in one word, None if nothing did."""
    if action["status"] == "denied":
        return str(action["denial"]["error"] or "denied")
    if action["status"] != "executed":
        return str(action["error"] or action["status"])
    status = action["http_status"]
    return str(status) if isinstance(status, int) and status >= _FIRST_ERROR else None


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes; what is not known is left out."""
    return [
        {"key": key, "value": _value(value)} for key, value in values.items() if value is not None
    ]


def _value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}  # 64 bits do not fit into every reader's number
    return {"stringValue": str(value)}
