"""`ghost config`: write the annotated file, show what is in force and why, print the schema."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Annotated

import typer

from ghost_cli import output
from ghost_core import settings
from ghost_core.errors import UnavailableError
from ghost_core.files import write_file
from ghost_core.paths import home
from ghost_core.settings_tighten import leaves

app = typer.Typer(
    name="config",
    help="Write and show the configuration.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

_USERINFO = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]*@")


@app.command()
def init(
    *, force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False
) -> None:
    """Write the annotated ghost.toml to the home, mode 0600.

    Example: ghost config init
    """
    path = home().ensure().config
    if path.exists() and not force:
        raise UnavailableError(
            f"file {str(path)!r}: exists",
            code="config.exists",
            hint="change it as it is; one without your changes: ghost config init --force",
        )
    write_file(path, (files("ghost_core") / "ghost.toml").read_bytes(), mode=0o600)
    output.result({"schema": "ghost/config-init/v1", "file": str(path)}, f"wrote {path}")


@app.command()
def show(
    *, origin: Annotated[bool, typer.Option("--origin", help="Say where from.")] = False
) -> None:
    """Show every setting in force.

    Secrets appear as the references they are.

    Example: ghost config show --origin
    """
    values = settings.load(warn=output.warn).model_dump(mode="json", exclude_none=True)
    found = settings.sources(warn=lambda _: None)
    rows = [(steps, _shown(value), found.find(steps)[1]) for steps, value in leaves(values)]
    document: dict[str, object] = {"schema": "ghost/config/v1", "settings": _masked(values)}
    if origin:
        document["origin"] = {".".join(steps): source for steps, _, source in rows}
    text = "\n".join(
        _row(".".join(steps), value, source if origin else "") for steps, value, source in rows
    )
    output.result(document, text)


@app.command()
def schema() -> None:
    """Print the JSON Schema of ghost.toml, for editors.

    Example: ghost config schema
    """
    from ghost_core.settings_models import Settings

    output.result(Settings.model_json_schema())


def _row(key: str, value: str, source: str) -> str:
    return f"{key} = {value}" + (f"  # {source}" if source else "")


def _shown(value: object) -> str:
    return json.dumps(_masked(value), ensure_ascii=False)


def _masked(value: object) -> object:
    """Hide the password of any address inside the value."""
    match value:
        case str():
            return _USERINFO.sub("…@", value)
        case dict():
            return {name: _masked(each) for name, each in value.items()}
        case list() | tuple():
            return [_masked(each) for each in value]
        case _:
            return value
