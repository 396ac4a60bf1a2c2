"""`ghost ledger`: the log as a whole."""

from __future__ import annotations

import typer

from ghost_cli.ledger_continue import continue_
from ghost_cli.ledger_erase import erase
from ghost_cli.ledger_export import export
from ghost_cli.ledger_head import head
from ghost_cli.ledger_prune import prune
from ghost_cli.ledger_rotate_key import rotate_key
from ghost_cli.ledger_verify import verify

app = typer.Typer(
    name="ledger",
    help="Print its head, verify it, export it, erase, prune, change its key.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def ledger() -> None:
    """Print its head, verify it, export it, erase, prune, change its key."""


app.command()(head)
app.command()(verify)
app.command()(export)
app.command()(erase)
app.command()(prune)
app.command(name="rotate-key")(rotate_key)
app.command(name="continue")(continue_)
