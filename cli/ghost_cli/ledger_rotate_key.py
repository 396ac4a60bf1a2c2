"""`ghost ledger rotate-key`: give the log a new key; the old one hands over, and is wiped."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from ghost_cli import inside, output
from ghost_cli.sessions import Opened
from ghost_core.errors import DeniedError, UsageError
from ghost_ledger import rotating
from ghost_ledger.rotating import Rotated
from ghost_ledger.verify.revocation import revocation_line

_REASON: Final = 300


def rotate_key(
    *,
    reason: Annotated[str, typer.Option(help="Why, in one line. It stays in the log.")],
) -> None:
    """Give the log a new key.

    An entry says so, the old key hands over to the new one, and both sign one more head; then the old one is
    overwritten. Bundles made from then on verify under either. Everybody else goes on meanwhile. If it is
    killed, the log has one of the two keys, and the same command again finishes it. For a key that others may
    know, see ghost ledger continue --new-key.

    Example: ghost ledger rotate-key --reason "yearly"
    """
    refuse_inside("changing the key of the log")
    check_reason(reason)
    place = Opened.now()
    with place.ledger(), place.recorder() as recorder:  # the first makes none where there is none
        done = rotating.rotate(place.home, recorder, reason)
    output.result(_document(done), _text(done))


def refuse_inside(what: str) -> None:
    """Refuse what is a human's to do; raises DeniedError `session.inside`."""
    if inside.session():
        raise DeniedError(
            f"{what}: is refused inside a session, which GHOST_SESSION_ID names",
            code="session.inside",
            hint="a human unsets GHOST_SESSION_ID first",
        )


def check_reason(text: str) -> None:
    """Raise UsageError `usage.reason` unless it is one line that says something."""
    if not text.strip() or not text.isprintable() or len(text) > _REASON:
        raise UsageError(
            f"--reason: expected one line of 1 to {_REASON} characters",
            code="usage.reason",
            hint='ghost ledger rotate-key --reason "yearly"',
        )


def _document(done: Rotated) -> dict[str, Any]:
    return {
        "schema": "ghost/log-key/v1",
        "origin": done.origin,
        "old_key": done.old,
        "new_key": done.new,
        "size": done.size,
        "head": str(done.head),
        "note": done.note.decode(),
        "revoked": revocation_line(done.old, done.size),
        "finished": done.finished,
    }


def _text(done: Rotated) -> str:
    begun = "finished a change that was begun: " if done.finished else ""
    return "\n".join(
        [
            f"{begun}log {done.origin} has a new key, the old one is wiped",
            f"  old: {done.old}",
            f"  new: {done.new}",
            f"  both signed the head of size {done.size}: {done.head}",
            f"for a list of revoked keys: {revocation_line(done.old, done.size)}",
        ]
    )
