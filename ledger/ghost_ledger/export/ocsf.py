"""The actions of a session as events of OCSF 1.2.0, class API Activity (6003).

A view for a SIEM, never evidence. OCSF's attestations (1.9) are signatures over the event itself; ours are
over the entry, so they stand under `unmapped`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ghost_core.version import __version__

__all__ = ["VERSION", "events"]

VERSION: Final = "1.2.0"
_CLASS: Final = 6003
_ACTIVITIES: Final = {
    "POST": (1, "Create"),
    "GET": (2, "Read"),
    "HEAD": (2, "Read"),
    "OPTIONS": (2, "Read"),
    "PUT": (3, "Update"),
    "PATCH": (3, "Update"),
    "DELETE": (4, "Delete"),
}
_OTHER: Final = (99, "Other")
# status: its id, its name, how severe it is
_STATUSES: Final = {
    "executed": (1, "Success", 1),
    "failed": (2, "Failure", 2),
    "denied": (2, "Failure", 3),
    "unknown": (0, "Unknown", 3),
}
_SEVERITIES: Final = {1: "Informational", 2: "Low", 3: "Medium"}

type _View = Mapping[str, Any]


def events(view: _View) -> list[dict[str, Any]]:
    """Return one event per action of a session's view, in order."""
    return [_event(view, action) for action in view["actions"]]


def _event(view: _View, action: _View) -> dict[str, Any]:
    activity, activity_name = _ACTIVITIES.get(str(action["method"]), _OTHER)
    status, status_name, severity = _STATUSES[action["status"]]
    return _known(
        {
            "category_uid": 6,
            "category_name": "Application Activity",
            "class_uid": _CLASS,
            "class_name": "API Activity",
            "activity_id": activity,
            "activity_name": activity_name,
            "type_uid": _CLASS * 100 + activity,
            "time": int(action["timestamp_us"]) // 1000,
            "severity_id": severity,
            "severity": _SEVERITIES[severity],
            "status_id": status,
            "status": status_name,
            "status_code": _text(action["http_status"]),
            "status_detail": (action["denial"] or {}).get("message") or action["error"],
            "metadata": _metadata(view, action),
            "actor": {"app_name": "ghost", "session": _session(view)},
            "api": _api(action),
            "http_request": {"http_method": action["method"]},
            "src_endpoint": {"name": "agent", "uid": view["session_id"]},
            "dst_endpoint": {"hostname": action["host"], "port": action["port"]},
            "unmapped": {"ghost": _evidence(view, action)},
        }
    )


def _metadata(view: _View, action: _View) -> dict[str, Any]:
    return {
        "version": VERSION,
        "product": {"name": "ghost", "vendor_name": "ghost", "version": __version__},
        "uid": action["action_id"],
        "correlation_uid": view["session_id"],
        "log_name": view["log"]["origin"],
        "sequence": action["seq"],
        "original_time": action["timestamp"],
    }


def _session(view: _View) -> dict[str, Any]:
    return {"uid": view["session_id"], "issuer": "ghost"}


def _api(action: _View) -> dict[str, Any]:
    status = action["http_status"]
    named = f"{action['tool']}:{action['action']}" if action["action"] else action["tool"]
    return {
        "operation": named or f"{action['method']} {action['host']}",
        "service": {"name": action["tool"] or action["host"]},
        "request": {"uid": action["action_id"]},
        **({"response": {"code": status}} if isinstance(status, int) else {}),
    }


def _evidence(view: _View, action: _View) -> dict[str, Any]:
    return _known(
        {
            "status": action["status"],
            "count": action["count"],
            "latency_us": action["latency_us"],
            "entry_hash": action["entry_hash"],
            "signature": action["signature"],
            "root_signature": view["root_signature"],
            "verdict": view["verdict"]["result"],
        }
    )


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _text(value: object) -> str | None:
    return None if value is None else str(value)
