"""`ghost memory backup`: the whole database as one file, while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_memory import backing


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it (0600).")],
) -> None:
    """Copy the whole database into one file, in use or not.

    The file is there whole and checked, or not at all; an older backup of that name is replaced, anything
    else is not. It holds ledger and memory; the keys of the home are not in it. `ghost memory import FILE`
    brings its memories back.

    Example: ghost memory backup /backup/ghost.db
    """
    place = Opened.now()
    engine = db.engine(place.settings.database.url, home=place.home)
    try:
        size = backing.backup(engine, file)
    finally:
        engine.dispose()
    document = {"schema": "ghost/memory-backup/v1", "file": str(file), "bytes": size}
    output.result(document, f"wrote {file}, {size} bytes")
