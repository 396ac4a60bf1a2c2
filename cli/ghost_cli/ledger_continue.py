"""`ghost ledger continue`: go on in a log under a new name, where the old one cannot be gone on with."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ghost_cli import output
from ghost_cli.ledger_rotate_key import check_reason, refuse_inside
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_ledger import continuing
from ghost_ledger.continuing import NewLog
from ghost_ledger.export.values import sha256
from ghost_ledger.session.custody import discard
from ghost_ledger.verify.revocation import revocation_line


def continue_(
    *,
    reason: Annotated[str, typer.Option(help="Why, in one line. It stays in the new log.")],
    new_key: Annotated[
        bool, typer.Option("--new-key", help="With another key: others may know the present one.")
    ] = False,
) -> None:
    """Go on in a new log that commits to the last head.

    For a database that is behind the head that this home remembers, or has another tree; restore the newest
    one if you can. The old database is kept beside the new one, in SQLite; memories and credentials go along.
    Open sessions of the old log are over: end possess and run, and start them again. A log that is whole is
    left only with --new-key.

    Example: ghost ledger continue --reason "the disk of 2026-12-01 is lost"
    """
    refuse_inside("beginning another log")
    check_reason(reason)
    place = Opened.now()
    engine = db.engine(place.settings.database.url, home=place.home)
    try:
        place.home.ensure()
        made = continuing.go_on(engine, place.home, SystemClock(), reason=reason, new_key=new_key)
    finally:
        engine.dispose()
    for sid in made.over:
        discard(sid)
    output.result(_document(made, new_key=new_key), _text(made, new_key=new_key))


def _document(made: NewLog, *, new_key: bool) -> dict[str, Any]:
    return {
        "schema": "ghost/ledger-continue/v1",
        "origin": made.origin,
        "key": made.vkey,
        "continues": {
            "origin": made.old.origin,
            "size": made.old.size,
            "root_hash": sha256(made.old.root),
        },
        "kept": str(made.kept) if made.kept else None,
        "over": list(made.over),
        "revoked": _revoked(made) if new_key else None,
    }


def _revoked(made: NewLog) -> str | None:
    return revocation_line(made.old_vkey, made.old.size) if made.old_vkey else None


def _text(made: NewLog, *, new_key: bool) -> str:
    root = sha256(made.old.root)
    lines = [
        f"log {made.origin} continues {made.old.origin}, size {made.old.size}, {root}",
        f"  key: {made.vkey}",
    ]
    lines += [f"  the old database: {made.kept}"] if made.kept else []
    lines += [f"  over: {sid}" for sid in made.over]
    revoked = _revoked(made) if new_key else None
    lines += [f"for a list of revoked keys: {revoked}"] if revoked else []
    return "\n".join(lines)
