"""`ghost memory history`: what happened to a memory, as the ledger tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from ghost_cli import output, remembered
from ghost_memory import history as histories
from ghost_memory.entered import Entered

NOT_SHOWN = {"place", "readable", "subject"}


def history(
    memory_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="The memory, also a deleted one; else all.")
    ] = "",
    *,
    limit: Annotated[int, typer.Option(help="How many at most, without ID.", min=1)] = 30,
) -> None:
    """Show who changed a memory, when and from where.

    Older texts are not kept: an entry commits to its text and does not hold it. Without an ID: the newest
    changes of everything. `ghost memory verify` tells whether the entries can be relied on.

    Example: ghost memory history 3f78
    """
    with remembered.reading() as (seen, _):
        if memory_id:
            name, found = histories.of(seen.connection, memory_id)
            total = len(found)
        else:
            name = None
            found, total = histories.latest(seen.connection, limit)
    document = {
        "schema": "ghost/memory-history/v1",
        "memory": name,
        "changes": [_document(each) for each in found],
        "total": total,
    }
    output.result(document, _text(found, total))


def _document(each: Entered) -> dict[str, object]:
    fields = {name: value for name, value in asdict(each).items() if name not in NOT_SHOWN}
    return {"memory": each.subject, **fields}


def _text(found: Sequence[Entered], total: int) -> str:
    tail = [] if len(found) == total else [f"{len(found)} of {total}"]
    return "\n".join([*map(_line, found), *tail]) or "no changes"


def _line(each: Entered) -> str:
    origin = " ".join(part for part in (each.by, each.host, each.session) if part)
    parts = (f"{each.at[:19]}Z", each.change, each.subject, origin, each.reason)
    return "  ".join(part for part in parts if part)
