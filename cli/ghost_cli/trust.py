"""`ghost trust`: the user has read a project's file and lets it say everything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghost_cli import output
from ghost_core import trust as register
from ghost_core.errors import NotFoundError
from ghost_core.look import is_file
from ghost_core.paths import current, home
from ghost_core.settings_sources import parse, project_file, read_file

Argument = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="The file; default: the nearest ghost.toml upwards."),
]


def trust(file: Argument = None) -> None:
    """Trust a project's ghost.toml with exactly the bytes it has now.

    Until then it can tighten settings, but neither name executables, tools and credentials nor change
    addresses. A later change of the file needs a new trust.

    Example: ghost trust ./ghost.toml
    """
    path = file or project_file(home(), current())
    if path is None or not is_file(path):
        raise NotFoundError(
            f"file {str(path or 'ghost.toml')!r}: not found",
            code="trust.file",
            hint="name the file: ghost trust FILE",
        )
    data = read_file(path)
    parse(data, path)
    digest = register.record(home(), path, data)
    output.result(
        {"schema": "ghost/trust/v1", "file": str(path.resolve()), "sha256": digest},
        f"trusted {path.resolve()} (sha256 {digest})",
    )
