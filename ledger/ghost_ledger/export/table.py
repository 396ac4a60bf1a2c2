"""The csv view: one row per action, RFC 4180, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = ["COLUMNS", "csv_text", "neutral"]

type Document = Mapping[str, Any]  # a JSON view: its values are whatever JSON allows

# The seed's fields first, then ours; names are only ever added at the end.
_SESSION: Final = ("session_id", "intent", "spawned_at", "evaporated_at")
_ACTION: Final = (
    "action_id",
    "tool",
    "action",
    "timestamp",
    "params_hash",
    "response_hash",
    "signature",
)
_LAST: Final = ("root_signature", "verified")
_MORE: Final = (
    "status",
    "http_status",
    "method",
    "host",
    "port",
    "credential",
    "latency_us",
    "sent",
    "received",
    "count",
    "error",
    "rule",
    "intent_signature",
    "entry_hash",
    "finished_at",
    "root_hash",
    "entries",
    "log_origin",
    "log_size",
    "log_root_hash",
    "verdict",
)
COLUMNS: Final = (*_SESSION, *_ACTION, *_LAST, *_MORE)

# What makes a spreadsheet read a formula, also behind quotes and blanks, also in full-width form.
_FORMULA = re.compile(
    r"[\s\"'`\u00a0\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]"
)
_LEADING_CONTROL = re.compile(r"[\t\r\n]")


def csv_text(view: Document) -> str:
    """Return the rows of one session view, or of all in a view with `sessions`, with CRLF lines.

    A session without actions has one row with empty action fields, so that it does not vanish.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for session in view.get("sessions", [view]):
        writer.writerows(_rows(session))
    return out.getvalue()


def neutral(value: object) -> str:
    """Return the cell for a value; one that could be run gets an apostrophe in front.

    Take that apostrophe away to have the value back: a value that began with one gets another.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if isinstance(value, int):
        return text
    risky = _FORMULA.match(text) or _LEADING_CONTROL.match(text) or text.startswith("'")
    return f"'{text}" if risky else text


def _rows(session: Document) -> Iterable[list[str]]:
    for action in session["actions"] or [{}]:
        row = {**_of_session(session), **_of_action(action)}
        yield [neutral(row.get(name)) for name in COLUMNS]


def _of_session(session: Document) -> dict[str, object]:
    log = session["log"]
    return {
        **{name: session[name] for name in (*_SESSION, *_LAST, "root_hash", "entries")},
        "log_origin": log["origin"],
        "log_size": log["size"],
        "log_root_hash": log["root_hash"],
        "verdict": session["verdict"]["result"],
    }


def _of_action(action: Document) -> dict[str, object]:
    denial = action.get("denial") or {}
    named = {name: action[name] for name in (*_ACTION, *_MORE) if name in action}
    return {
        **named,
        "error": action.get("error") or denial.get("error"),
        "rule": denial.get("rule"),
    }
