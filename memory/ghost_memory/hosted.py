"""What Claude Code wrote down of a directory by itself, for a project that has never held anything.

Only files below `~/.claude/projects/<path>/memory` are read, and nothing is written there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.look import is_dir, is_file, is_link
from ghost_memory import saving, words
from ghost_memory.entered import entered
from ghost_memory.journal import Writing
from ghost_memory.limits import fit
from ghost_memory.saving import Note
from ghost_memory.values import GLOBAL, Project

__all__ = ["bring", "waiting"]

FILES: Final = 200
FILE_BYTES: Final = 65_536
NOTE_BYTES: Final = 4000
SHORTEST: Final = 20
TAGS: Final = ("claude-code", "auto-import")

_SKIPPED: Final = re.compile(r"MEMORY\.md|plan_.*|research_.*")
_HEAD: Final = re.compile(
    r"---[ \t]*\n(?P<fields>.*?)^---[ \t]*(?:\n|\Z)(?P<body>.*)", re.DOTALL | re.MULTILINE
)
_FIELD: Final = re.compile(r"(?P<name>[A-Za-z_]+)[ \t]*:[ \t]*(?P<value>.*?)[ \t]*")
_MIGRATED: Final = re.compile(r"\bmigrated to ghost\b", re.IGNORECASE)
_CATEGORIES: Final[Mapping[str, str]] = {
    "feedback": "preference",
    "user": "preference",
    "project": "architecture",
    "reference": "fact",
    "pattern": "pattern",
    "decision": "decision",
    "gotcha": "gotcha",
}
_IMPORTANCE: Final[Mapping[str, float]] = {"feedback": 0.9, "user": 0.9, "project": 0.8}


def waiting(connection: Connection, project: Project, home: Path) -> list[Note]:
    """Return the notes of a project's directories; none for one that holds or ever held a memory.

    What the user deleted must not come back, so the entries are asked too.
    """
    if project.id == GLOBAL or _holds(connection, project.id):
        return []
    found = dict[str, Note]()
    for directory in _directories(connection, project):
        for note in _notes(home, directory):
            found.setdefault(words.digest(note.content), note)
    return [] if found and _held(connection, project.id) else [*found.values()]


def bring(writing: Writing, project: Project, notes: list[Note]) -> int:
    """Save notes, and return how many; none if somebody else was quicker."""
    if _holds(writing.connection, project.id):
        return 0
    for note in notes:
        saving.save(writing, project.id, note)
    return len(notes)


def _holds(connection: Connection, project: str) -> bool:
    statement = sa.text("SELECT 1 FROM memories WHERE project_id = :id LIMIT 1")
    return connection.execute(statement, {"id": project}).first() is not None


def _held(connection: Connection, project: str) -> bool:
    changes = (each for each in entered(connection) if each.project == project)
    return any(each.change.startswith("memory.") for each in changes)


def _directories(connection: Connection, project: Project) -> list[str]:
    statement = sa.text("SELECT path FROM project_checkouts WHERE project_id = :id ORDER BY path")
    bound = [str(each) for each in connection.execute(statement, {"id": project.id}).scalars()]
    return [each for each in dict.fromkeys([project.path, *bound]) if each.startswith("/")]


def _notes(home: Path, directory: str) -> Iterator[Note]:
    folder = home / ".claude" / "projects" / re.sub(r"[/\\:]", "-", directory) / "memory"
    if is_link(folder) or not is_dir(folder):
        return
    try:
        files = sorted(folder.glob("*.md"))[:FILES]
    except OSError:
        return
    for file in files:
        if not _SKIPPED.fullmatch(file.name) and not is_link(file) and is_file(file):
            note = _note(_text(file))
            if note is not None:
                yield note


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(FILE_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return ""


def _note(text: str) -> Note | None:
    head = _HEAD.match(text)
    fields = _fields(head["fields"]) if head else {}
    title = " — ".join(each for each in (fields.get("name"), fields.get("description")) if each)
    body = (head["body"] if head else text).strip()
    content = fit("\n\n".join(each for each in (title, body) if each), NOTE_BYTES).text
    if len(content) < SHORTEST or _MIGRATED.search(text):
        return None
    kind = fields.get("type", "").lower()
    category = _CATEGORIES.get(kind, "fact")
    return Note(content, category, _IMPORTANCE.get(kind, 0.7), TAGS, "onboarding")


def _fields(text: str) -> dict[str, str]:
    found = (_FIELD.fullmatch(line) for line in text.splitlines())
    return {each["name"].lower(): each["value"].strip("\"'") for each in found if each}
