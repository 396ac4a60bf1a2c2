"""Settings, two doors over one table of fields: `load` checks everything, `peek` reads a few names.

Order: flag, `GHOST_*` variable (tables joined by `__`), the project's `ghost.toml`, the home's
`ghost.toml`, default. The models are imported by `load` only, so that `peek` stays quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ghost_core import paths, trust
from ghost_core.errors import ConfigError
from ghost_core.settings_fields import FIELDS, Field
from ghost_core.settings_sources import Sources, gather, project_file
from ghost_core.settings_values import database_url, size_bytes

if TYPE_CHECKING:
    from ghost_core.settings_models import Settings
    from ghost_core.settings_tables import (
        ActionSettings,
        CredentialSettings,
        RuleMatch,
        RuleSettings,
        ToolSettings,
    )

__all__ = [
    "ActionSettings",
    "CredentialSettings",
    "RuleMatch",
    "RuleSettings",
    "Settings",
    "ToolSettings",
    "files",
    "load",
    "note",
    "peek",
    "sources",
]

type Warn = Callable[[str], None]


def load(
    *,
    cwd: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    warn: Warn | None = None,
) -> Settings:
    """Read and check all settings; `overrides` are flags by dotted name, None means not given.

    `warn` gets a text for each unknown variable and for what an untrusted project file may not say;
    without it the log does, once per text. Raises ConfigError.
    """
    from pydantic import ValidationError

    from ghost_core.settings_check import refused
    from ghost_core.settings_models import Settings

    found = sources(cwd=cwd, overrides=overrides, warn=warn)
    try:
        return Settings.model_validate(found.merged())
    except ValidationError as error:
        # Not chained: pydantic's error object holds the values.
        raise refused(error, found) from None


def peek(*keys: str, cwd: Path | None = None) -> dict[str, object]:
    """Return a few settings by dotted name without pydantic; only their own kind is checked.

    Sizes are bytes, paths are `Path`. Raises ConfigError, KeyError for a name that does not exist.
    """
    found = sources(cwd=cwd, warn=lambda _: None)
    return {key: _peeked(key, FIELDS[key], found) for key in keys}


def sources(
    *,
    cwd: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    warn: Warn | None = None,
) -> Sources:
    """Gather what each source says, unchecked; raises ConfigError for one that cannot be read."""
    found = gather(paths.home(), cwd or paths.current(), overrides)
    for text in found.warnings:
        (warn or note)(text)
    return found


def files(*, cwd: Path | None = None) -> tuple[Path, ...]:
    """Return the files whose change can change the settings; they need not exist."""
    home = paths.home()
    project = project_file(home, cwd or paths.current())
    own = (home.config, trust.register(home))
    return own if project is None else (*own, project)


@lru_cache(maxsize=256)
def note(text: str) -> None:
    """Warn of something in the settings that breaks nothing, once in this process."""
    import logging  # a fifth of a short start, which is mostly silent

    logging.getLogger("ghost.settings").warning("%s", text)


def _peeked(key: str, field: Field, found: Sources) -> object:
    value, origin = found.find(tuple(key.split(".")))
    try:
        return _typed(field, field.default if value is None else value)
    except (ValueError, ArithmeticError):
        raise ConfigError(
            f"setting {key!r} in {origin}: expected {field.kind}", code="config.value"
        ) from None


def _typed(field: Field, value: object) -> object:
    from decimal import Decimal

    match field.kind, value:
        case "size", _:
            return size_bytes(value)
        case "path", str(text):
            return paths.expand(text) if text else None
        case "url", str(text):
            return database_url(text)
        case "text", str() | None:
            return value
        case "whole", int() if not isinstance(value, bool):
            return value
        case "number", int() | str() | Decimal() if not isinstance(value, bool):
            return Decimal(value)
        case "list", list() | tuple():
            return tuple(value)
        case _:
            raise ValueError(field.kind)


def __getattr__(name: str) -> object:
    """Hand out the models under this module's name, imported at first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ghost_core import settings_models, settings_tables

    return getattr(settings_models, name, None) or getattr(settings_tables, name)
