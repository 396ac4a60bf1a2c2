"""`ghost ledger verify`: the whole log, against its head and the keys of this home."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ghost_cli import output
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_core.errors import NotFoundError
from ghost_ledger import auditing, opening
from ghost_ledger.auditing import Audit
from ghost_ledger.export import words
from ghost_ledger.export.values import sha256
from ghost_ledger.verify import Axis

_VERDICTS = {0: "valid", 7: "invalid", 8: "incomplete"}
_FAST = "fast: neither signatures of entries, nor derived columns, nor payloads were checked"


def verify(
    *,
    fast: Annotated[
        bool, typer.Option("--fast", help="Hashes, tree and head only; no signatures of entries.")
    ] = False,
) -> None:
    """Verify the whole log; exit 0 whole, 7 broken, 8 undecided.

    Every entry with its signature and place, the tree and its tiles, the head and the one that was
    remembered, the columns that are derived, and each stored payload. Nothing is written. An open session is
    no fault. The first entry that cannot stand is named, and nothing behind it is judged.

    Example: ghost ledger verify
    """
    found = _audited(Opened.now(), fast=fast)
    output.result(_document(found), _text(found))
    raise typer.Exit(found.exit_code)


def _audited(place: Opened, *, fast: bool) -> Audit:
    """Look without sweeping: what is judged must not be changed first."""
    engine = db.engine(place.settings.database.url, home=place.home)
    try:
        if not db.exists(engine):
            opening.refuse_lost(engine, place.home)
            raise NotFoundError(
                f"ledger {db.name(engine)!r}: does not exist yet",
                code="ledger.missing",
                hint="ghost spawn --intent … --scope …, or set GHOST_HOME",
            )
        return auditing.audit(engine, place.home, fast=fast)
    finally:
        engine.dispose()


def _document(found: Audit) -> dict[str, Any]:
    return {
        "schema": "ghost/ledger-verify/v1",
        "verdict": _VERDICTS[found.exit_code],
        "exit_code": found.exit_code,
        "fast": found.fast,
        "origin": found.origin,
        "entries": found.entries,
        "root_hash": sha256(found.root),
        "sessions": {"sealed": found.sealed, "unsealed": found.open},
        "pending": found.pending,
        "pruned": {"entries": found.pruned, "below": found.minimum},
        "continues": _continued(found),
        "first_bad": found.first_bad,
        "axes": {axis.name: {"state": axis.state, "detail": axis.detail} for axis in found.axes},
    }


def _continued(found: Audit) -> dict[str, Any] | None:
    if found.continued is None:
        return None
    old = found.continued
    return {
        "origin": old.origin,
        "size": old.size,
        "root_hash": sha256(bytes.fromhex(old.root)),
        "reason": old.reason,
    }


def _text(found: Audit) -> str:
    verdict = _VERDICTS[found.exit_code]
    lines = [f"log {found.origin}, {found.entries} entries", *map(_line, found.axes)]
    if found.continued is not None:
        old = found.continued
        lines.insert(1, f"continues {old.origin} at size {old.size}, root {old.root}: {old.reason}")
    if found.fast:
        lines.append(_FAST)
    lines.append(f"{words.verdict_word(verdict)}. {words.verdict_sentence(verdict)}")
    return "\n".join(lines)


def _line(axis: Axis) -> str:
    return f"  {words.SIGNS[axis.state]} {axis.name:<11} {axis.detail}".rstrip()
