"""One session as the page shows it: verdict, facts, timeline, comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ghost_ledger.export import words
from ghost_templates import action, diff, text
from ghost_templates.action import Notice
from ghost_templates.text import Mark

type Document = Mapping[str, Any]  # a JSON view: its values are whatever JSON allows

_STATES = {"valid": text.GOOD, "invalid": text.BAD, "incomplete": text.WARN, "absent": text.NONE}
_ORDER = {"invalid": 0, "incomplete": 1, "valid": 2, "absent": 3}
# A whole digest in a sentence helps nobody; it stands in full at the end of the page.
_HASH = re.compile(r"\b([0-9a-f]{16})[0-9a-f]{48,}\b")
_REASONS = {
    "evaporate": "evaporated",
    "ttl": "its time ran out",
    "issue_failed": "a credential could not be issued",
    "exit": "its command ended",
    "abandoned": "abandoned, its key was lost",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The headline."""

    mark: Mark
    word: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis in plain words."""

    mark: Mark
    state: str
    says: str
    detail: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many actions ended in one way."""

    mark: Mark
    word: str
    number: int


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line of the timeline that is no action."""

    event: Document
    offset: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """This session beside another one."""

    sentence: str
    lines: tuple[diff.Line, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """Everything that the session template reads."""

    view: Document
    anchor: str
    title: str
    verdict: Verdict
    commands: tuple[str, ...]
    axes: tuple[Axis, ...]
    counts: tuple[Count, ...]
    tally: str
    ended: str
    life: str
    reads: str | None
    traffic: str | None
    position: str | None
    notices: tuple[Notice, ...]
    rows: tuple[EventRow | action.Row, ...]
    comparison: Comparison | None


def prepare(view: Document, *, number: int) -> Session:
    """Turn a view into what the template needs; `number` makes anchors unique in one page."""
    anchor = f"s{number}"
    return Session(
        view=view,
        anchor=anchor,
        title=_title(view),
        verdict=verdict(view),
        commands=_commands(view),
        axes=_axes(view),
        counts=_counts(view),
        tally=_tally(view),
        ended=_ended(view),
        life=_life(view),
        reads=None if view["reads"] is None else str(view["reads"]),
        traffic=_traffic(view),
        position=_position(view["log"]),
        notices=_notices(view),
        rows=_rows(view, anchor),
        comparison=_comparison(view),
    )


def _title(view: Document) -> str:
    if view["intent"]:
        return str(view["intent"])
    return "(intent erased)" if view["intent_state"] == "erased" else "(intent not stored)"


def verdict(view: Document) -> Verdict:
    """Return the headline of a view."""
    result = view["verdict"]["result"]
    sentence = words.verdict_sentence(result)
    return Verdict(_STATES.get(result, text.OPEN), words.verdict_word(result), sentence)


def _commands(view: Document) -> tuple[str, ...]:
    """Fold long commands the way a shell still accepts them."""
    lines = view["verify"]["commands"]
    return tuple(
        line.replace(" -o ", " \\\n  -o ").replace(" --key ", " \\\n  --key ") for line in lines
    )


def _axes(view: Document) -> tuple[Axis, ...]:
    found = [
        Axis(
            _STATES.get(axis["state"], text.OPEN),
            axis["state"],
            words.axis_sentence(name, axis["state"]),
            _HASH.sub(r"\1…", axis["detail"] or ""),
        )
        for name, axis in view["verdict"]["axes"].items()
    ]
    return tuple(sorted(found, key=lambda axis: _ORDER.get(axis.state, 1)))


def _counts(view: Document) -> tuple[Count, ...]:
    counts = view["counts"]
    return (
        Count(text.GOOD, "executed", counts["executed"]),
        Count(text.BAD, "denied", counts["denied"]),
        Count(text.WARN, "failed", counts["failed"]),
        Count(text.OPEN, "unknown", counts["unknown"]),
    )


def _tally(view: Document) -> str:
    parts = [f"{number} {word}" for word, number in view["counts"].items() if number]
    return ", ".join(parts) or "none"


def _ended(view: Document) -> str:
    if view["evaporated_at"] is None:
        return "not yet" if view["status"] == "open" else "lost"
    why = _REASONS.get(view["reason"] or "", view["reason"] or "")
    return text.moment(view["evaporated_at"]) + (f", {why}" if why else "")


def _life(view: Document) -> str:
    allowed = text.span(view["ttl_seconds"] * 1_000_000) if view["ttl_seconds"] else "no limit"
    if view["lived_for_seconds"] is None:
        return f"{allowed} allowed"
    lived = view["lived_for_seconds"]  # whole seconds
    return f"{text.span(lived * 1_000_000) if lived else 'under 1 s'} of {allowed} allowed"


def _traffic(view: Document) -> str | None:
    if view["bytes_sent"] is None:
        return None
    return f"{text.size(view['bytes_sent'])} sent, {text.size(view['bytes_received'])} received"


def _position(log: Document) -> str | None:
    if log["spawn_index"] is None:
        return None
    last = "" if log["seal_index"] is None else f" to {log['seal_index']}"
    return f"entries {log['spawn_index']}{last} of {log['size']}"


def _notices(view: Document) -> tuple[Notice, ...]:
    return tuple(
        Notice(
            text.BAD,
            f"Column {item['table']}.{item['column']} of {item['id']} says {item['stored']},"
            f" the signed entry says {item['signed']}. This page shows the entry.",
        )
        for item in view["columns"]
    )


def _rows(view: Document, anchor: str) -> tuple[EventRow | action.Row, ...]:
    items = [*view["events"], *view["actions"]]
    items.sort(key=lambda item: item["seq"])
    start = items[0]["timestamp_us"] if items else 0
    rows: list[EventRow | action.Row] = []
    for item in items:
        offset = "+" + _offset(item["timestamp_us"] - start)
        if "action_id" in item:
            rows.append(action.row(item, offset=offset, anchor=f"{anchor}-{item['seq']}"))
        else:
            rows.append(EventRow(item, offset))
    return tuple(rows)


def _offset(microseconds: int) -> str:
    """Show a time since the spawn as `12.345 s` or `12:05`, narrow enough for its column."""
    seconds = microseconds / 1_000_000
    if seconds < 100:
        return f"{seconds:.3f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02} min"


def _comparison(view: Document) -> Comparison | None:
    found = view["comparison"]
    if not found:
        return None
    facts = tuple(diff.pair(f["name"], f["other"], f["this"]) for f in found["facts"])
    lines = diff.sequences(found["actions_other"], found["actions_this"])
    changed = sum(line.left != line.right for line in (*facts, *lines))
    sentence = "They did the same." if not changed else f"{changed} lines differ."
    return Comparison(sentence, facts + lines)
