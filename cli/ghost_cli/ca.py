"""`ghost ca`: show and export the local certificate that agents are told to trust."""

from __future__ import annotations

import typer

from ghost_addons import ca as authorities
from ghost_cli import output
from ghost_core.clock import rfc3339
from ghost_core.paths import home as ghost_home

app = typer.Typer(
    name="ca",
    help="Show and export the local certificate.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def show() -> None:
    """Show the files of the authority, its fingerprint and its end.

    Example: ghost ca show
    """
    authority = authorities.ensure(ghost_home().ensure().ca)
    document: dict[str, object] = {
        "schema": "ghost/ca/v1",
        "certificate": str(authority.certificate_file),
        "bundle": str(authority.bundle_file),
        "sha256": authorities.fingerprint(authority),
        "expires_at": rfc3339(int(authorities.expires_at(authority).timestamp() * 1_000_000)),
    }
    text = "\n".join(f"{name}: {value}" for name, value in document.items() if name != "schema")
    output.result(document, text)


@app.command()
def export() -> None:
    """Print the certificate as PEM.

    Example: ghost ca export > ghost-ca.pem
    """
    authority = authorities.ensure(ghost_home().ensure().ca)
    output.raw(authority.certificate_file.read_bytes())
