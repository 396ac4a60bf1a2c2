"""`ghost memory export` and `import`: memory as a file, and a file as memory."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output, remembered
from ghost_memory import importing, projects, reading
from ghost_memory.exchange import SCHEMA
from ghost_memory.exporting import exported
from ghost_memory.importing import Brought

SHOWN = 20  # problems of a file that are told one by one


def export(
    *,
    project: Annotated[
        str, typer.Option("--project", help="Only this project, by name or id.")
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file instead (0600); only an older export is replaced.",
        ),
    ] = None,
) -> None:
    """Write all memory as JSON Lines, to stdout or a file.

    A header, then one record a line; the same memory gives the same bytes.

    Example: ghost memory export --output memory.jsonl
    """
    from ghost_cli.evidence import Kind, save

    with remembered.reading() as (seen, _):
        wanted = projects.require(seen.connection, project).id if project else None
        data = "".join(f"{line}\n" for line in exported(seen.connection, wanted)).encode()
    if file is None:
        output.raw(data)
        return
    save(file, data, Kind("export", (f'{{"schema":"{SCHEMA}"'.encode(),)))
    document = {"schema": "ghost/memory-exported/v1", "file": str(file), "bytes": len(data)}
    output.result(document, f"wrote {file}")


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export, or a Go ghost.db.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would come.")] = False,
) -> None:
    """Bring in an export, or another ghost.db.

    A database is only read, also that of the Go program. Ids stay. What is there already stays as it is,
    so a second import changes nothing. A line that is no record is named and left out.

    Example: ghost memory import ~/.local/share/ghost/ghost.db --dry-run
    """
    taken = reading.given(file)
    for problem in taken.problems[:SHOWN]:
        output.warn(problem)
    if len(taken.problems) > SHOWN:
        output.warn(f"and {len(taken.problems) - SHOWN} more that are wrong")
    found = _found(taken.records, dry_run=dry_run)
    document = {
        "schema": "ghost/memory-import/v1",
        "file": str(file),
        "new": dict(found.new),
        "existing": dict(found.existing),
        "skipped": dict(found.skipped),
        "problems": len(taken.problems),
        "applied": not dry_run,
    }
    head = "would bring" if dry_run else "brought"
    text = f"{head} {_counts(found.new)}; there already {_counts(found.existing)}"
    left_out = len(taken.problems)
    ends = (
        f"; skipped {_counts(found.skipped)}" if found.skipped else "",
        f"; {left_out} left out, being no records that can be kept" if left_out else "",
    )
    output.result(document, text + "".join(ends))


def _found(given: reading.Given, *, dry_run: bool) -> Brought:
    if dry_run:
        return remembered.preview(lambda writing: importing.tried(writing, given))
    with remembered.changing() as journal:
        return importing.bring(journal, given)


def _counts(found: Counter[str]) -> str:
    parts = [f"{number} {name}" for name, number in found.items() if number]
    return ", ".join(parts) or "nothing"
