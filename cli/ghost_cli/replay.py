"""`ghost replay`: what a session did, verified, as json, csv or an audit page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, assert_never

import typer

from ghost_cli import evidence, output
from ghost_cli.evidence import Kind
from ghost_cli.pinned import pinned
from ghost_core.errors import UsageError
from ghost_ledger.export import words
from ghost_ledger.export.replay import all_view, csv_text, session_view, view_exit_code
from ghost_ledger.export.table import COLUMNS
from ghost_ledger.export.views import SCHEMA


class Format(StrEnum):
    """The forms of a view."""

    JSON = "json"
    CSV = "csv"
    HTML = "html"


_PAGE = (
    b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    b'<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-'
)
_KINDS: Final[Mapping[Format, Kind]] = {
    Format.JSON: Kind("JSON view", (f'{{\n  "schema": "{SCHEMA}"'.encode(),)),
    Format.CSV: Kind("CSV view", (",".join(COLUMNS).encode(),)),
    Format.HTML: Kind("audit page", (_PAGE,)),
}


def replay(
    *,
    session_id: Annotated[
        str, typer.Option(help="Session to show.", envvar="GHOST_SESSION_ID")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Show every session.")] = False,
    form: Annotated[
        Format, typer.Option("--output-format", "--format", help="Form of the view.")
    ] = Format.JSON,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file instead (0600); only an older view of this form is replaced.",
        ),
    ] = None,
    against: Annotated[str, typer.Option(help="Another session to compare with.")] = "",
    disclose: Annotated[
        bool, typer.Option("--disclose", help="Add salts, requests and replies.")
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="Key to trust instead of the log key in keys/.")
    ] = None,
) -> int:
    """Show what a session did, verified; exit 0 verified, 7 broken, 8 incomplete.

    Example: ghost replay --session-id gh_… --format html --output audit.html
    """
    if everything and against:
        raise UsageError("--against: needs one session, not --all", code="usage.session")
    if not everything and not session_id:
        raise UsageError(
            "expected --session-id or --all", code="usage.session", hint="ghost session list"
        )
    trusted = None if key is None else pinned(key)
    parts = "none" if form is not Format.HTML else "full" if disclose else "excerpt"
    with evidence.opened() as found:
        place = (found.ledger, found.home)
        more: dict[str, Any] = {"key": trusted, "disclose": disclose, "parts": parts}
        if everything:
            view = all_view(*place, **more)
            evidence.tell_pruned(view["pruned"])
        else:
            view = session_view(*place, session_id, against=against or None, **more)
    _show(view, form, file)
    code = view_exit_code(view)
    if code:
        output.note(_why(view))
    return code


def _why(view: Mapping[str, Any]) -> str:
    """Return in one line why the exit code is not 0, for who sees a file or a table and no verdict."""
    if "sessions" in view:
        return f"exit {view['exit_code']}: not every session is verified"
    verdict = view["verdict"]
    axes = (each for each in verdict["axes"].items() if each[1]["state"] == verdict["result"])
    name, axis = next(axes, ("", None))
    why = f" {words.axis_sentence(name, axis['state'])}" if axis else ""
    return f"exit {verdict['exit_code']}: {words.verdict_word(verdict['result'])}.{why}"


def _show(view: Mapping[str, Any], form: Format, file: Path | None) -> None:
    if file is not None:
        evidence.save(file, _encoded(view, form), _KINDS[form])
        output.note(f"wrote {file}: a view, not evidence")
    elif form is Format.JSON:
        output.result(view)
    else:
        output.raw(_encoded(view, form))


def _encoded(view: Mapping[str, Any], form: Format) -> bytes:
    match form:
        case Format.JSON:
            return (json.dumps(view, indent=2) + "\n").encode("ascii")
        case Format.CSV:
            return csv_text(view).encode("utf-8")
        case Format.HTML:
            from ghost_templates.render import page

            return page(view).encode("utf-8")
        case _:
            assert_never(form)
