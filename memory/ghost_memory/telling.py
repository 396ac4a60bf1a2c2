"""What the entries say of each memory, one after the other: whether it is there, where, with which text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ghost_memory.entered import Entered

__all__ = ["Told", "told"]


@dataclass(slots=True)
class Told:
    """A memory as its entries tell it; `place` is that of the entry with the text, None is not told."""

    exists: bool = False
    readable: bool = True
    project: str = ""
    content: str = ""
    place: int = -1
    pinned: bool | None = None
    resolved: bool | None = None


def told(changes: Iterable[Entered]) -> Mapping[str, Told]:
    """Return what is told of each memory that was ever entered."""
    known: dict[str, Told] = {}
    for each in changes:
        if each.change == "project.merged":
            _move(known, each.subject, each.project)
        elif each.change == "project.deleted":
            _remove(known, each.subject)
        elif each.change == "link.duplicate" and each.reason in known:
            known[each.reason].resolved = False  # what is said again holds again
        elif each.change.startswith("memory."):
            _hear(known.setdefault(each.subject, Told()), each)
    return known


def _hear(memory: Told, each: Entered) -> None:
    memory.readable = memory.readable and each.readable
    _KINDS.get(each.change, _unknown)(memory, each)


def _saved(memory: Told, each: Entered) -> None:
    memory.exists, memory.pinned, memory.resolved = True, False, False
    memory.project = each.project
    _text(memory, each)


def _imported(memory: Told, each: Entered) -> None:
    _saved(memory, each)
    memory.pinned = memory.resolved = None  # came with the file


def _updated(memory: Told, each: Entered) -> None:
    memory.resolved = False
    if each.content:
        _text(memory, each)


def _seen(memory: Told, _: Entered) -> None:
    memory.resolved = False


def _promoted(memory: Told, each: Entered) -> None:
    memory.project = each.project


def _pinned(memory: Told, each: Entered) -> None:
    memory.pinned = each.change == "memory.pinned"


def _resolved(memory: Told, _: Entered) -> None:
    memory.resolved = True


def _deleted(memory: Told, _: Entered) -> None:
    memory.exists = False


def _unknown(memory: Told, _: Entered) -> None:
    """Say nothing about a memory of which a newer ghost entered something."""
    memory.readable = False


def _text(memory: Told, each: Entered) -> None:
    memory.content, memory.place = each.content, each.place


def _move(known: Mapping[str, Told], old: str, new: str) -> None:
    for memory in known.values():
        if memory.project == old:
            memory.project = new


def _remove(known: Mapping[str, Told], project: str) -> None:
    for memory in known.values():
        if memory.project == project:
            memory.exists = False


_KINDS: Final[Mapping[str, Callable[[Told, Entered], None]]] = {
    "memory.saved": _saved,
    "memory.imported": _imported,
    "memory.updated": _updated,
    "memory.seen": _seen,
    "memory.promoted": _promoted,
    "memory.pinned": _pinned,
    "memory.unpinned": _pinned,
    "memory.resolved": _resolved,
    "memory.deleted": _deleted,
}
