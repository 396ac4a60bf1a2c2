"""Brings records into memory: ids stay, and so does what is there, so that a second time changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory import grounds, words
from ghost_memory.checkout import Checkout
from ghost_memory.exchange import Kind, Record
from ghost_memory.journal import Change, Journal, Writing
from ghost_memory.reading import Given

__all__ = ["Brought", "bring", "tried"]

AT_ONCE: Final = 200  # records in one transaction, so that nobody waits for the lock for long
_SUBJECTS: Final = {"memory": "id", "task": "id", "decision": "id", "link": "source_id"}
_TIMES: Final = ("created_at", "updated_at", "bound_at")
_UNSAID: Final[Mapping[str, Record]] = {
    "link": {"source": "auto"},
    "memory": {"source": "import"},
    "snapshot": {
        "memory_id": "",
        "category": "fact",
        "importance": 0.5,
        "source": "import",
        "tags": "[]",
    },
}
_LATER: Final = {"task": ("blocked_by",), "decision": ("superseded_by",)}


@dataclass(slots=True)
class Brought:
    """How many records of each kind are new, how many were there, and how many lead nowhere."""

    new: Counter[str] = field(default_factory=Counter)
    existing: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, more: Brought) -> None:
        """Count what another part brought."""
        self.new.update(more.new)
        self.existing.update(more.existing)
        self.skipped.update(more.skipped)


def tried(writing: Writing, given: Given) -> Brought:
    """Bring all records in at once, for a caller that takes it back: a preview."""
    return _write(writing, given, _same_projects(writing.connection, given))


def bring(journal: Journal, given: Given) -> Brought:
    """Bring all records in; one that is interrupted goes on where it ended when it is run again."""
    found = Brought()
    with journal.read() as connection:
        same = _same_projects(connection, given)
    for part in _parts(given):
        found.add(journal.write(partial(_write, part=part, same=same)))
    for part in _parts([each for each in given if each[0].name in _LATER]):
        journal.write(partial(_refer, part=part))
    return found


def _parts(given: Given) -> list[Given]:
    return [given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE)]


def _write(writing: Writing, part: Given, same: Mapping[str, str]) -> Brought:
    found = Brought()
    for kind, given in part:
        row = _placed(kind, given, same)
        if _is_there(writing.connection, kind, row):
            found.existing[kind.name] += 1
        elif _leads_nowhere(writing.connection, kind, row):
            found.skipped[kind.name] += 1
        else:
            _insert(writing, kind, row)
            found.new[kind.name] += 1
    return found


def _insert(writing: Writing, kind: Kind, given: Record) -> None:
    row = {**given}
    for name in _LATER.get(kind.name, ()):
        row.pop(name, None)
    if kind.name == "project":
        row["path"] = _free_path(writing.connection, row)
        row.setdefault("name", row["id"])
    if kind.name == "memory":
        content, tags = str(row["content"]), str(row.get("tags", "[]"))
        row |= {"digest": words.digest(content), "pairs": words.pairs(f"{content} {tags}")}
    if kind.name == "decision" and not _known(writing.connection, "memories", row.get("memory_id")):
        row["memory_id"] = None
    row = {**_defaults(kind, row, writing.now), **row}
    columns = ", ".join(row)
    writing.connection.execute(
        sa.text(
            f"INSERT INTO {kind.table} ({columns}) VALUES ({', '.join(f':{each}' for each in row)})"
        ),
        row,
    )
    writing.report(_change(kind, row))


def _defaults(kind: Kind, row: Record, now: str) -> dict[str, object]:
    """Return what a row must have and older files do not say."""
    times = {name: row.get("created_at", now) for name in _TIMES if name in kind.columns}
    return {**times, **_UNSAID.get(kind.name, {})}


def _change(kind: Kind, row: Record) -> Change:
    project = str(row.get("project_id", row["id"] if kind.name == "project" else ""))
    subject = str(row[_SUBJECTS[kind.name]]) if kind.name in _SUBJECTS else project
    texts = (row.get(name) for name in ("content", "decision", "title"))
    content = next((str(each) for each in texts if each is not None), None)
    reason = f"{row['relation']} {row['target_id']}" if kind.name == "link" else ""
    return Change(subject, f"{kind.name}.imported", project, content, reason)


def _refer(writing: Writing, part: Given) -> None:
    """Set what points to a record of the same kind, which had to be there first."""
    for kind, row in part:
        for name in _LATER.get(kind.name, ()):
            target = row.get(name)
            if not _known(writing.connection, kind.table, target):
                continue
            done = writing.connection.execute(
                sa.text(
                    f"UPDATE {kind.table} SET {name} = :target WHERE id = :id AND {name} IS NULL"
                ),
                {"target": target, "id": row["id"]},
            )
            if done.rowcount:
                writing.report(
                    Change(str(row["id"]), f"{kind.name}.imported", reason=f"{name} {target}")
                )


def _same_projects(connection: Connection, given: Given) -> dict[str, str]:
    """Return which project of ours each new one is: by name or by directory, where only one can be meant.

    Otherwise a second project of the same name would make the name ambiguous.
    """
    same: dict[str, str] = {}
    for kind, row in given:
        if kind.name != "project" or _is_there(connection, kind, row):
            continue
        found = (
            connection.execute(
                sa.text(
                    "SELECT id FROM projects WHERE name = :name OR (path = :path AND path <> id)"
                ),
                {"name": row.get("name", row["id"]), "path": row.get("path", "")},
            )
            .scalars()
            .all()
        )
        if len(found) == 1:
            same[str(row["id"])] = str(found[0])
    return same


def _placed(kind: Kind, row: Record, same: Mapping[str, str]) -> Record:
    """Return the record in the project of ours that it belongs to."""
    name = "id" if kind.name == "project" else "project_id"
    known = same.get(str(row.get(name, "")))
    return row if known is None else {**row, name: known}


def _free_path(connection: Connection, row: Record) -> object:
    """Return the directory of a project, or its id where there is none or another project has it."""
    path = str(row.get("path", ""))
    taken = connection.execute(
        sa.text("SELECT 1 FROM projects WHERE path = :path"), {"path": path}
    ).first()
    return row["id"] if taken or not path.startswith("/") else path


def _is_there(connection: Connection, kind: Kind, row: Record) -> bool:
    where = " AND ".join(f"{name} = :{name}" for name in kind.key)
    values = {name: row[name] for name in kind.key}
    statement = sa.text(f"SELECT 1 FROM {kind.table} WHERE {where} LIMIT 1")
    return connection.execute(statement, values).first() is not None


def _leads_nowhere(connection: Connection, kind: Kind, row: Record) -> bool:
    """Tell whether what a record belongs to is missing: its project, an end of a link, a real directory."""
    if kind.name == "link":
        ends = (row["source_id"], row["target_id"])
        return ends[0] == ends[1] or not all(_known(connection, "memories", each) for each in ends)
    if kind.name == "checkout" and not _can_be_bound(str(row["path"])):
        return True
    return kind.name != "project" and not _known(connection, "projects", row.get("project_id"))


def _can_be_bound(path: str) -> bool:
    return path.startswith("/") and not grounds.are_shared(Checkout.of(Path(path)))


def _known(connection: Connection, table: str, value: object) -> bool:
    statement = sa.text(f"SELECT 1 FROM {table} WHERE id = :id")
    return value is not None and connection.execute(statement, {"id": value}).first() is not None
