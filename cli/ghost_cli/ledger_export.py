"""`ghost ledger export`: sessions for tracing back ends, a SIEM, a queue, or a script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from ghost_cli import evidence, output
from ghost_cli.pinned import pinned
from ghost_ledger.export import stream

BROKEN = 7
INCOMPLETE = 8


class Format(StrEnum):
    """What the lines are."""

    OTLP = "otlp"
    OCSF = "ocsf"
    CLOUDEVENTS = "cloudevents"
    JSONL = "jsonl"
    DSSE = "dsse"


def export(
    *,
    form: Annotated[
        Format, typer.Option("--output-format", "--format", help="What the lines are.")
    ] = Format.JSONL,
    session_id: Annotated[
        str, typer.Option(help="Session; without one, all of them.", envvar="GHOST_SESSION_ID")
    ] = "",
    key: Annotated[
        str | None, typer.Option(help="Key to trust instead of the log key in keys/.")
    ] = None,
) -> int:
    """Print sessions as lines of JSON.

    Each is verified as it is read: exit 0, 7 broken, 8 incomplete.

    otlp: a trace per session (OTLP/JSON). ocsf: an API Activity per action. cloudevents: what webhooks are
    told. jsonl: every entry. None of them is evidence: each line names the entry that is.

    dsse: the statement that a session's key signed at the seal (in-toto), an envelope per session.

    Example: ghost ledger export --format otlp --session-id gh_…
    """
    trusted = None if key is None else pinned(key)
    codes: list[int] = []
    with evidence.opened() as found:
        for session in stream.sessions(
            found.ledger, found.home, form.value, sid=session_id, key=trusted
        ):
            printed = sum(map(_print, session.documents))
            if form is Format.DSSE and not printed:
                output.note(f"session {session.sid}: no statement is there that its key signed")
            codes.append(session.exit_code)
        if not session_id:
            evidence.tell_pruned(stream.left_out(found.ledger))
    if not codes:
        output.note("no session is there: nothing was exported")
    return BROKEN if BROKEN in codes else max(codes, default=INCOMPLETE)


def _print(document: Mapping[str, Any]) -> int:
    output.raw(json.dumps(document, separators=(",", ":")).encode() + b"\n")
    return 1
