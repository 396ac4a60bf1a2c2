"""`ghost context`: what an agent should know here, as the session-start hook shows it.

It runs at every start of an agent, so it reads with the plain driver and loads neither Typer nor an ORM.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from ghost_cli import output
from ghost_core.clock import SystemClock, time_text
from ghost_core.errors import ConfigError, UsageError
from ghost_core.paths import current, expand, of_user
from ghost_core.settings import peek
from ghost_memory import assemble, grounds, reader
from ghost_memory.assemble import Block

SCHEMA = "ghost/context/v1"
HELP = """\
Usage: ghost context [--cwd DIR]

  Print what is remembered of the project of a directory: memories, open tasks,
  recent decisions, and what all projects share. Nothing is printed where nothing
  is remembered; nothing is written.

  --cwd DIR   the directory, which must exist; else the one you are in

  Example: ghost context --cwd ~/src/app
"""


def context(words: list[str]) -> int:
    """Print the block; nothing at all where there is nothing to show."""
    from ghost_cli.commands import FLAGS

    if words and words[0] in {"--help", "-h"}:
        output.lines(f"{HELP}\n{FLAGS}")
        return 0
    found = of_directory(_directory(words))
    if output.options().json:
        document = {"schema": SCHEMA, "text": "", "shown": 0, "total": 0}
        if found:
            document |= {"text": found.text, "shown": found.shown, "total": found.total}
        output.result(document)
    elif found:
        output.lines(found.text)
    return 0


def of_directory(directory: Path) -> Block | None:
    """Return the block of a directory, or None where there is nothing; raises UnavailableError."""
    now = time_text(SystemClock().now_us())
    with _opened(str(peek("database.url", cwd=directory)["database.url"])) as rows:
        if rows is None:
            return None
        found = assemble.block(rows, rows.project_of(directory), now=now)
    return None if found.empty else found


def _directory(words: list[str]) -> Path:
    match words:
        case []:
            return current()
        case ["--cwd", named]:
            return _there(named)
        case [said] if said.startswith("--cwd="):
            return _there(said.removeprefix("--cwd="))
    raise UsageError(
        f"context: expected --cwd DIR or nothing, found {words[0]!r}",
        code="usage.arguments",
        hint="ghost context --help",
    )


def _there(named: str) -> Path:
    directory = of_user(named)
    grounds.require_directory(directory)
    return directory


def _opened(url: str) -> AbstractContextManager[reader.Rows | None]:
    scheme, _, place = url.partition(":///")
    if scheme.partition("+")[0] == "sqlite" and place:
        return reader.opened(expand(place.partition("?")[0]))
    if url.startswith(("postgresql:", "postgresql+psycopg:")):
        from ghost_memory import reader_postgres

        return reader_postgres.opened(url)
    raise ConfigError(
        "database.url: expected a sqlite file or a PostgreSQL database",
        code="database.url",
        hint='url = "sqlite:///$GHOST_HOME/ghost.db"',
    )
