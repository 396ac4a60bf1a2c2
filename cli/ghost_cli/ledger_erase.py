"""`ghost ledger erase`: delete what commitments stand for; the chain holds, and an entry says so."""

from __future__ import annotations

import os
import pwd
from typing import Annotated, Any

import typer

from ghost_cli import inside, output
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_core.errors import DeniedError, GhostError
from ghost_ledger import erasing
from ghost_ledger.erasing import Erasure, Wanted
from ghost_ledger.erasures import Erased
from ghost_ledger.export.values import sha256


def erase(
    *,
    session_id: Annotated[
        str, typer.Option("--session-id", help="Session whose payloads are erased.")
    ],
    basis: Annotated[
        str, typer.Option(help="Why, in one line. It stays in the log, with your user name.")
    ],
    action: Annotated[str | None, typer.Option(help="Only of this action.")] = None,
    field: Annotated[
        str | None, typer.Option(help="Only this field, as `params` or `response`.")
    ] = None,
) -> None:
    """Delete what a session stored, for good.

    Requests, replies and intent go with their salts. Commitments, chain and proofs stay as they are, and so
    do bundles that were made before. Other commands wait while the database is written anew. Once more does
    no harm: it finishes what was interrupted.

    Example: ghost ledger erase --session-id gh_… --basis "request 4711 of 2026-12-01"
    """
    if inside.session():
        raise DeniedError(
            "erasing: is refused inside a session, which GHOST_SESSION_ID names",
            code="session.inside",
            hint="a human unsets GHOST_SESSION_ID first",
        )
    wanted = Wanted(session_id, basis, _actor(), action, field)
    place = Opened.now()
    with place.ledger(), place.recorder() as recorder:  # the first makes none where there is none
        done = recorder.erase(wanted)
    _rewrite(place)
    output.result(_document(wanted, done), _text(wanted, done))


def _rewrite(place: Opened) -> None:
    engine = db.engine(place.settings.database.url, home=place.home)
    try:
        erasing.scrub(engine)
    except GhostError as error:
        raise type(error)(
            f"erased and entered, but pages of the database still hold copies: {error.message}",
            code=error.code,
            hint="the same command again finishes it",
        ) from error
    finally:
        engine.dispose()


def _document(wanted: Wanted, done: Erasure) -> dict[str, Any]:
    return {
        "schema": "ghost/erasure/v1",
        "session_id": wanted.sid,
        "erased": [_item(each) for each in done.now],
        "erased_before": [_item(each) for each in done.before],
        "key_destroyed": done.key_destroyed,
        "basis": wanted.basis,
        "actor": wanted.actor,
    }


def _item(each: Erased) -> dict[str, Any]:
    return {
        "id": each.id,
        "entry_hash": sha256(each.leaf_hash),
        "fields": list(each.fields),
        "erased_by": sha256(each.said),
    }


def _text(wanted: Wanted, done: Erasure) -> str:
    count = sum(len(each.fields) for each in done.now)
    lines = [f"erased {count} payload{'' if count == 1 else 's'} of {wanted.sid}"]
    lines += [f"  {each.id}  {' '.join(each.fields)}  {sha256(each.said)}" for each in done.now]
    if done.key_destroyed:
        lines.append("no payload is left: the data key of the session is destroyed")
    if done.before:
        lines.append(f"erased before: {sum(len(each.fields) for each in done.before)}")
    return "\n".join(lines)


def _actor() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"
