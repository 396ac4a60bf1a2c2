"""Reads what is to be imported: an export of ours, or a database of the origin, which is only read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from ghost_core.errors import NotFoundError, UsageError
from ghost_core.look import reason
from ghost_memory.exchange import KINDS, SCHEMA, Kind, Record, record

__all__ = ["Given", "Taken", "given"]

LINE_BYTES: Final = 1_048_576
_SQLITE: Final = b"SQLite format 3\0"
_NAMED: Final = {kind.name: kind for kind in KINDS}

type Given = list[tuple[Kind, Record]]


@dataclass(slots=True)
class Taken:
    """Records that can be written, in the order in which they can be, and what is wrong with others."""

    records: Given = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def take(self, kind: Kind, row: Record, place: str) -> None:
        """Check a record."""
        try:
            self.records.append((kind, record(kind, row)))
        except UsageError as error:
            self.problems.append(f"{place}: {error.message}")


def given(path: Path) -> Taken:
    """Return what a file holds; a record that cannot be kept is a problem, not the end.

    Raises NotFoundError `import.file`, UsageError `import.format`.
    """
    taken = Taken()
    try:
        with path.open("rb") as file:
            is_database = file.read(len(_SQLITE)) == _SQLITE
        (_from_database if is_database else _from_lines)(path, taken)
    except (OSError, ValueError) as error:
        raise NotFoundError(
            f"file {str(path)!r}: cannot be read, {reason(error)}", code="import.file"
        ) from error
    taken.records.sort(key=lambda each: KINDS.index(each[0]))  # stable: the order of writing stays
    return taken


def _from_lines(path: Path, taken: Taken) -> None:
    with path.open("rb") as file:
        lines = _lines(file)
        header = _header(next(lines, b""))
        found = 0
        for number, line in enumerate(lines, start=2):
            if line.strip():
                found += 1
                _take_line(line, f"line {number}", taken)
    said = _said(header)
    if said is not None and said != found:
        taken.problems.append(f"the header names {said} records, found {found} lines")


def _header(line: bytes) -> dict[str, Any]:
    header = _object(line)
    if isinstance(header, str):
        raise UsageError(f"line 1: {header}", code="import.format")
    if header.get("schema") != SCHEMA:
        raise UsageError(
            f"line 1: expected an export ({SCHEMA}) or a ghost.db", code="import.format"
        )
    return header


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines; of one that is too long only the beginning, and not its rest as lines of their own."""
    for line in iter(lambda: file.readline(LINE_BYTES + 1), b""):
        rest = line
        while len(rest) > LINE_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(LINE_BYTES + 1)
        yield line


def _take_line(line: bytes, place: str, taken: Taken) -> None:
    row = _object(line)
    kind = None if isinstance(row, str) else _NAMED.get(str(row.get("type")))
    if isinstance(row, str):
        taken.problems.append(f"{place}: {row}")
    elif kind is None:
        taken.problems.append(f"{place}: is of no type that is known")
    else:
        taken.take(kind, row, place)


def _object(line: bytes) -> dict[str, Any] | str:
    """Return the object on a line, or what is wrong with it."""
    if len(line) > LINE_BYTES:
        return f"is longer than {LINE_BYTES} bytes"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "is no JSON"
    return found if isinstance(found, dict) else "is no JSON object"


def _said(header: Mapping[str, Any]) -> int | None:
    """Return how many records a header promises, so that a file that was cut off is told."""
    counts = header.get("records")
    if not isinstance(counts, dict) or not all(type(each) is int for each in counts.values()):
        return None
    return sum(counts.values())


def _from_database(path: Path, taken: Taken) -> None:
    """Take the rows of the tables that the origin has too, with the columns that are there."""
    try:
        with closing(_opened(path)) as database:
            for kind in KINDS:
                _take_table(database, kind, taken)
            _take_directories(database, taken)
    except sqlite3.Error as error:
        raise UsageError(
            f"file {str(path)!r}: is no database of memories, {error}", code="import.format"
        ) from error


def _opened(path: Path) -> sqlite3.Connection:
    """Open for reading only. SQLite makes files of its own beside one that may be in use.

    So a database that nobody has open, and one in a closed folder, is read as it lies there.
    """
    in_use = any(path.with_name(path.name + end).exists() for end in ("-wal", "-journal"))
    for how in ("mode=ro", "mode=ro&immutable=1") if in_use else ("mode=ro&immutable=1",):
        connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True)
        connection.row_factory = sqlite3.Row
        try:
            if _is_table(connection, "memories"):
                return connection
        except sqlite3.OperationalError:
            pass
        connection.close()
    raise sqlite3.OperationalError("it cannot be opened, or has no table memories")


def _is_table(database: sqlite3.Connection, name: str) -> bool:
    """Tell whether it is a real table: a view of a stranger's may have rows without end."""
    statement = (
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'"
    )
    return database.execute(statement, (name,)).fetchone() is not None


def _take_table(database: sqlite3.Connection, kind: Kind, taken: Taken) -> None:
    there = {str(row["name"]) for row in database.execute(f"PRAGMA table_info({kind.table})")}
    columns = [name for name in kind.columns if name in there]
    if not columns or not _is_table(database, kind.table):
        return
    order = "seq" if "seq" in there else "rowid"
    rows = database.execute(f"SELECT {', '.join(columns)} FROM {kind.table} ORDER BY {order}")
    for number, row in enumerate(rows, start=1):
        taken.take(kind, {name: row[name] for name in columns}, f"{kind.table}, row {number}")


def _take_directories(database: sqlite3.Connection, taken: Taken) -> None:
    """Take the directories that lie in the projects' own rows, as the origin keeps them."""
    if not _is_table(database, "projects"):
        return
    rows = database.execute("SELECT id, path, created_at FROM projects WHERE path LIKE '/%'")
    for number, row in enumerate(rows, start=1):
        values = {"path": row["path"], "project_id": row["id"], "bound_at": row["created_at"]}
        taken.take(_NAMED["checkout"], values, f"projects, directory {number}")
