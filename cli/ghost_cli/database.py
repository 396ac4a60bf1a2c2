"""`ghost database`: makes the tables, on a server the roles that use them, and brings them up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from ghost_cli import output
from ghost_cli.database_rights import READER, RECORDER, is_recorder
from ghost_core.db_roles import Rights
from ghost_core.db_setup import Setup, opened
from ghost_core.errors import NotFoundError, UsageError
from ghost_core.paths import home
from ghost_core.settings import load

app = typer.Typer(
    name="database",
    help="Make the tables of ledger and memory, and bring them up to date.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Recorder = Annotated[
    str | None,
    typer.Option(
        "--recorder",
        metavar="ROLE",
        help="PostgreSQL: for machines where agents run; it appends. Default: ghost_recorder.",
    ),
]
Reader = Annotated[
    str | None,
    typer.Option(
        "--reader",
        metavar="ROLE",
        help="PostgreSQL: for auditors; it sees all but the vault. Default: ghost_reader.",
    ),
]


@app.command()
def init(*, recorder: Recorder = None, reader: Reader = None) -> None:
    """Make the tables, and on PostgreSQL two roles.

    One appends, for machines where agents run; one reads, for auditors.

    Run it as the role that is to own the tables, and again whenever you like: each role then has exactly
    the rights it needs. A role that is not there is made, and may log in.

    Example: ghost database init --recorder ghost_recorder --reader ghost_reader
    """
    home().ensure()
    with opened(load().database.url, home()) as setup:
        _tell(setup, _roles(recorder, reader) if _may_have_roles(setup, recorder, reader) else {})


@app.command()
def upgrade() -> None:
    """Bring the tables up to date.

    After a new version of ghost. Roles keep their kind of rights.

    Example: ghost database upgrade
    """
    with opened(load().database.url, home()) as setup:
        if not setup.exists:
            raise NotFoundError(
                f"database {setup.name}: has no tables of ghost",
                code="database.missing",
                hint="ghost database init",
            )
        held = setup.holders("entries")
        _tell(
            setup,
            {role: RECORDER if is_recorder(given) else READER for role, given in held.items()},
        )


def _may_have_roles(setup: Setup, *asked: str | None) -> bool:
    if not setup.has_roles and any(asked):
        raise UsageError(
            "roles: a SQLite file has none, who may read the file may read it all",
            code="database.roles",
            hint="database.url = 'postgresql+psycopg://…' in ghost.toml",
        )
    return setup.has_roles


def _roles(recorder: str | None, reader: str | None) -> dict[str, Rights]:
    names = recorder or "ghost_recorder", reader or "ghost_reader"
    if names[0] == names[1]:
        raise UsageError("recorder and reader: expected two roles", code="database.roles")
    return dict(zip(names, (RECORDER, READER), strict=True))


def _tell(setup: Setup, roles: Mapping[str, Rights]) -> None:
    """Bring the database up, and say what was done."""
    before, after, made = setup.bring_up(roles)
    kinds = {role: "recorder" if given is RECORDER else "reader" for role, given in roles.items()}
    document = {
        "schema": "ghost/database/v1",
        "database": setup.name,
        "before": before,
        "revision": after,
        "roles": {role: {"kind": kind, "made": made[role]} for role, kind in kinds.items()},
    }
    lines = [f"database {setup.name}: {_moved(before, after)}"]
    lines += [f"role {role}: {kind}{', made' * made[role]}" for role, kind in kinds.items()]
    output.result(document, "\n".join(lines))


def _moved(before: str | None, after: str | None) -> str:
    if before == after:
        return f"up to date, revision {after}"
    return f"made, revision {after}" if before is None else f"from revision {before} to {after}"
