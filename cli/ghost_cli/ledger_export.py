"""`ghost ledger export`: sessions for tracing back ends, a SIEM, a queue, or a script."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

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

    Example: ghost ledger export --format otlp --session-id gh_…
    """
    trusted = None if key is None else pinned(key)
    codes: list[int] = []
    with evidence.opened() as found:
        for session in stream.sessions(
            found.ledger, found.home, form.value, sid=session_id, key=trusted
        ):
            for document in session.documents:
                output.raw(json.dumps(document, separators=(",", ":")).encode() + b"\n")
            codes.append(session.exit_code)
    if not codes:
        output.note("no session is there: nothing was exported")
    return BROKEN if BROKEN in codes else max(codes, default=INCOMPLETE)
