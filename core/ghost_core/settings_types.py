"""The pydantic types of settings: sections, sizes, paths, references, events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from ghost_core.paths import expand
from ghost_core.settings_fields import FIELDS
from ghost_core.settings_values import database_url, field_path, reference, size_bytes


class Section(BaseModel):
    """A table of `ghost.toml`: frozen, no unknown names, and its errors never show a value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=True
    )


def _path(value: object) -> object:
    return expand(value) if isinstance(value, str) and value else value


def _optional_path(value: object) -> object:
    return None if value == "" else _path(value)


type Event = Literal[
    "session.spawned",
    "session.expired",
    "session.sealed",
    "session.quarantined",
    "session.bypass",
    "action.executed",
    "action.failed",
    "action.denied",
    "action.unknown",
    "approval.asked",
    "credential.issued",
    "credential.revoked",
    "credential.rotated",
]
type Text = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
type Size = Annotated[int, BeforeValidator(size_bytes)]
type ExpandedPath = Annotated[Path, BeforeValidator(_path)]
type OptionalPath = Annotated[Path | None, BeforeValidator(_optional_path)]
type DatabaseUrl = Annotated[str, AfterValidator(database_url)]
type Reference = Annotated[str, AfterValidator(reference)]
type OptionalReference = Annotated[str, AfterValidator(lambda text: text and reference(text))]
type FieldPath = Annotated[Text, AfterValidator(field_path)]
type Seconds = Annotated[int, Field(ge=1)]


def setting(key: str, **limits: Any) -> Any:  # pydantic's own Field is typed the same way
    """Return the pydantic field of a dotted name, with the default of the one table."""
    return Field(default=FIELDS[key].default, **limits)
