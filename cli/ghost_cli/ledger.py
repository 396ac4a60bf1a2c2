"""`ghost ledger`: the log as a whole."""

from __future__ import annotations

import typer

from ghost_cli.ledger_erase import erase

app = typer.Typer(
    name="ledger",
    help="Erase stored payloads.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def ledger() -> None:
    """Erase stored payloads."""


app.command()(erase)
