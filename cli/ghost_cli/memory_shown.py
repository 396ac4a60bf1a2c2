"""How memories look on a terminal and in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ghost_cli import width
from ghost_memory.asking import Found, Hit
from ghost_memory.values import Memory, Saved

WIDTH = 100
LEAST = 16  # of a text, however narrow the terminal: less tells nothing


def saved(made: Saved, kept: Memory) -> str:
    """Say what a save did, and what became of the text on the way."""
    head = f"{'already there' if made.existing else 'saved'} {made.id} in {kept.project_id}"
    lines = [
        head,
        made.twin and f"likely the same as {made.twin} ({made.likeness:.2f}); both are kept",
        made.superseded and f"replaces {', '.join(made.superseded)}",
        made.removed and f"secrets removed: {made.removed}",
        made.shortened and "the end was cut off: the text was too long",
    ]
    return "\n".join(str(line) for line in lines if line)


def found(answer: Found) -> dict[str, object]:
    """Return the answer to a search as JSON."""
    return {
        "verdict": answer.verdict,
        "reason": answer.reason,
        "degraded": answer.degraded,
        "total": answer.total,
        "withheld": answer.withheld,
        "hits": [_document(each) for each in answer.hits],
    }


def _document(hit: Hit) -> dict[str, object]:
    return {**asdict(hit), "memory": hit.memory._asdict(), "legs": dict(hit.legs)}


def hits(answer: Found, *, explain: bool) -> str:
    """Return one line for each hit, and how good the answer is."""
    lines = [_hit(each, explain=explain) for each in answer.hits]
    shown = f"{len(answer.hits)} of {answer.total}: {answer.verdict}"
    tail = f"{shown}, {answer.reason}" if answer.reason else shown
    return "\n".join([*lines, tail, *([answer.degraded] if explain and answer.degraded else [])])


def listed(found: Sequence[Memory], total: int) -> str:
    """Return one line for each memory, and of how many they are some."""
    lines = [
        _line(each, each.category, each.project_id, "pinned" if each.pinned else "")
        for each in found
    ]
    return "\n".join([*lines, f"{len(found)} of {total}"]) if total else "no memories"


def whole(document: Mapping[str, object]) -> str:
    """Return a memory field by field, its text last."""
    fields = {
        name: value
        for name, value in document.items()
        if name not in {"schema", "content"} and value is not None and value not in ("", (), [])
    }
    longest = max(map(len, fields))
    lines = [f"{name:<{longest}}  {_plain(value)}" for name, value in fields.items()]
    return "\n".join([*lines, "", str(document["content"])])


def _hit(each: Hit, *, explain: bool) -> str:
    memory = each.memory
    newer = f" by {each.replaced_by[:8]}" if each.replaced_by else ""
    pinned = "pinned" if memory.pinned else ""
    line = _line(memory, memory.category, each.project, pinned, each.label and each.label + newer)
    if not explain:
        return line
    legs = ", ".join(f"{name} {score:.3f}" for name, score in each.legs.items())
    return f"{line}\n          score {each.score:.3f}: {legs}"


def _line(memory: Memory, *marks: str) -> str:
    said = ", ".join(mark for mark in marks if mark)
    room = width.columns()
    beside = len(f"{memory.id[:8]}    ({said})")
    most = WIDTH if room is None else max(LEAST, min(WIDTH, room - beside))
    return f"{memory.id[:8]}  {width.cut(' '.join(memory.content.split()), most)}  ({said})"


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
