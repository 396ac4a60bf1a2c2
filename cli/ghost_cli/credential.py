"""`ghost credential`: put secrets into the vault, list them, take them out; no value is ever shown."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from ghost_cli import output
from ghost_core import db
from ghost_core import settings as configuration
from ghost_core.clock import rfc3339
from ghost_core.errors import ConfigError, NotFoundError, UsageError
from ghost_core.paths import home as ghost_home
from ghost_core.secret import SecretBytes
from ghost_core.settings import CredentialSettings, Settings
from ghost_credentials.binding import Credential
from ghost_credentials.references import (
    MAX_SECRET_BYTES,
    Reference,
    SecretSource,
    accept,
    is_vault_name,
)
from ghost_credentials.strength import is_weak
from ghost_credentials.vault import Stored, Vault

app = typer.Typer(
    name="credential",
    help="List, add, test and remove credentials.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name, as in vault:NAME.")]
# taken only to be refused: the parser's own message would repeat it
Rest = Annotated[list[str] | None, typer.Argument(hidden=True)]


@app.command()
def add(name: Name, rest: Rest = None) -> None:
    """Store a secret, sealed, from stdin or a prompt.

    An older one is replaced at once.

    Example: pass show stripe | ghost credential add stripe
    """
    if rest:
        raise UsageError(
            "the secret: is never taken from the command line, where others can read it",
            code="usage.secret",
            hint=f"replace that secret, then: ghost credential add {_named(name)} < FILE",
        )
    _named(name)
    secret = accept(_read(name), subject=f"credential {name!r}")
    with _vault() as vault:
        replaced = vault.find(name) is not None
        vault.put(name, secret)
    weak = _warned(name, secret)
    secret.wipe()
    reference = f"vault:{name}"
    if not _users(configuration.load(), reference):
        output.note(f'nothing uses it yet: set secret = "{reference}" in ghost.toml')
    document = {
        "schema": "ghost/credential/v1",
        "name": name,
        "reference": reference,
        "replaced": replaced,
        "weak": weak,
    }
    output.result(document, f"{'replaced' if replaced else 'stored'} {reference}")


@app.command("list")
def list_() -> None:
    """List configured credentials and names in the vault.

    Never a value.

    Example: ghost credential list
    """
    configured = configuration.load().credentials
    with _vault() as vault:
        stored = [row for row in vault.rows() if row.sid is None]
    document = {
        "schema": "ghost/credentials/v1",
        "credentials": [_configured(name, configured[name]) for name in sorted(configured)],
        "vault": [_stored(row) for row in stored],
    }
    rows = [
        f"{name}  {each.kind}  {_shown(each.secret)}  {' '.join(each.hosts)}"
        for name, each in sorted(configured.items())
    ]
    rows += [f"vault:{row.name}  since {rfc3339(row.updated_at)}" for row in stored]
    output.result(document, "\n".join(rows) or "no credentials")


@app.command()
def test(name: Name) -> None:
    """Read a credential's secret as the proxy would.

    It says whether the secret is usable.

    Nothing is sent: a call to the service belongs into a session, where it is judged and entered.

    Example: ghost credential test stripe
    """
    from ghost_addons.events import check

    settings = configuration.load()
    if name not in settings.credentials:
        raise NotFoundError(
            f"credential {name!r}: is not configured",
            code="credential.unknown",
            hint="ghost credential list",
        )
    check(settings)  # with a webhook that may not be reached, the proxy would not start
    credential = Credential.from_settings(name, settings.credentials[name])
    reference = credential.reference
    engine = db.engine(settings.database.url)
    try:
        db.migrate(engine)
        secret = SecretSource(ghost_home().ensure(), engine).resolve(reference)
        credential.require_fit(secret)
        weak = _warned(name, secret)
        secret.wipe()
    finally:
        engine.dispose()
    document = {
        "schema": "ghost/credential-test/v1",
        "name": name,
        "kind": settings.credentials[name].kind,
        "reference": reference.shown,
        "hosts": list(settings.credentials[name].hosts),
        "usable": True,
        "weak": weak,
    }
    output.result(document, f"{name}: the secret from {reference.shown} can be used")


@app.command()
def remove(name: Name) -> None:
    """Delete a secret from the vault; the next call that needs it fails.

    Example: ghost credential remove stripe
    """
    with _vault() as vault:
        if not vault.remove(name):
            raise NotFoundError(
                f"vault entry {name!r}: does not exist",
                code="credential.missing",
                hint="ghost credential list",
            )
    for user in _users(configuration.load(), f"vault:{name}"):
        output.note(f"credential {user!r} still refers to it")
    document = {"schema": "ghost/credential/v1", "name": name, "removed": True}
    output.result(document, f"removed vault:{name}")


@contextmanager
def _vault() -> Iterator[Vault]:
    engine = db.engine(configuration.load().database.url)
    try:
        home = ghost_home().ensure()
        db.migrate(engine)
        yield Vault(home, engine)
    finally:
        engine.dispose()


def _named(name: str) -> str:
    if not is_vault_name(name):
        raise UsageError(
            "the name: expected up to 64 letters, digits and ._- beginning with a letter or digit",
            code="usage.name",
            hint="ghost credential add NAME",
        )
    return name


def _read(name: str) -> SecretBytes:
    """Read the secret: a prompt without echo on a terminal, else all of stdin up to the limit."""
    if sys.stdin.isatty():
        try:
            typed = getpass.getpass(f"secret for {name} (not shown): ", stream=sys.stderr)
        except EOFError:
            typed = ""
        return SecretBytes(typed.encode("utf-8", "surrogateescape"))
    return SecretBytes(sys.stdin.buffer.read(MAX_SECRET_BYTES + 3))


def _warned(name: str, secret: SecretBytes) -> bool:
    """Warn of a secret that can be guessed, and tell whether it is one; neither value nor length is said."""
    weak = is_weak(secret.reveal())
    if weak:
        output.warn(
            f"credential {name!r}: its secret is weak and can be guessed; an agent that guesses it is told so"
            " by what ghost refuses and redacts. Let the service issue a long random one"
        )
    return weak


def _users(settings: Settings, reference: str) -> list[str]:
    return [name for name, each in settings.credentials.items() if each.secret == reference]


def _configured(name: str, each: CredentialSettings) -> dict[str, object]:
    return {
        "name": name,
        "kind": each.kind,
        "secret": _shown(each.secret),
        "hosts": list(each.hosts),
        "placeholder": each.placeholder,
    }


def _stored(row: Stored) -> dict[str, object]:
    return {"name": row.name, "updated_at": rfc3339(row.updated_at)}


def _shown(secret: str | None) -> str:
    try:
        return Reference.parse(secret or "").shown
    except ConfigError:
        return f"{(secret or '').partition(':')[0]}:…" if secret else "none"
