"""`ghost residue`: the signed entries, root and seal of a session, as they are stored."""

from __future__ import annotations

from typing import Annotated

import typer

from ghost_cli import evidence, output
from ghost_ledger.export.residue import all_residue, session_residue


def residue(
    *,
    session_id: Annotated[
        str, typer.Option(help="Session; without one, all of them.", envvar="GHOST_SESSION_ID")
    ] = "",
) -> int:
    """Print the signed entries, root and seal as stored; nothing is judged here.

    Example: ghost residue --session-id gh_…
    """
    with evidence.opened() as found:
        document = (
            session_residue(found.ledger, session_id) if session_id else all_residue(found.ledger)
        )
    if not session_id:
        evidence.tell_pruned(document["pruned"])
    output.result(document)
    return 0
