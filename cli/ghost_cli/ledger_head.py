"""`ghost ledger head`: the newest head of the log, signed, as stock tools read it."""

from __future__ import annotations

from ghost_cli import evidence, output
from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.export.values import sha256


def head() -> None:
    """Print the newest signed head of the log, its key to stderr.

    It is a checkpoint as transparency logs have it. Kept somewhere else it shows later whether the log went
    back: ghost verify FILE --head HEAD. The home remembers it before it is printed.

    Example: ghost ledger head > head-2026-12-01
    """
    with evidence.opened() as found:
        key, note = found.ledger.heads(found.home).sign()
    if not output.options().json:
        output.note(key.format())
        output.raw(note)
        return
    newest = open_checkpoint(note, (key,))
    output.result(
        {
            "schema": "ghost/head/v1",
            "origin": newest.origin,
            "size": newest.size,
            "root_hash": sha256(newest.root),
            "note": note.decode("utf-8"),
            "key": key.format(),
        }
    )
