"""`ghost memory list`: what a project remembers, the most important first."""

from __future__ import annotations

from typing import Annotated

import typer

from ghost_cli import memory_shown as shown
from ghost_cli import output, remembered
from ghost_memory import memories


def list_(
    *,
    project: Annotated[
        str, typer.Option("--project", help="Project by name or id; else that of the directory.")
    ] = "",
    everywhere: Annotated[bool, typer.Option("--all", help="List all projects.")] = False,
    category: Annotated[str, typer.Option(help="Kind of the memory, as `fact` or `gotcha`.")] = "",
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=100)] = 30,
    offset: Annotated[int, typer.Option(help="How many to leave out.", min=0)] = 0,
) -> None:
    """List memories, the most important first.

    With a category those that all projects share come along.

    Example: ghost memory list --category gotcha
    """
    with remembered.reading() as (seen, _):
        wanted = None if everywhere else remembered.here_or_everywhere(seen, project)
        found, total = memories.listing(
            seen.connection, wanted, category=category, limit=limit, offset=offset
        )
    document = {
        "schema": "ghost/memories/v1",
        "memories": [each._asdict() for each in found],
        "total": total,
    }
    output.result(document, shown.listed(found, total))
