"""Actions from an OpenAPI document: operationId names the action, schemas come along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import yaml

from ghost_core.errors import ConfigError
from ghost_core.settings import ActionSettings

SIZE_LIMIT = 16 * 1024 * 1024
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_MEDIA = {"application/json": "json", "application/x-www-form-urlencoded": "form"}


def operations(path: Path) -> dict[str, ActionSettings]:
    """Return the actions of a document of at most 16 MiB; nothing outside the file is read.

    Raises: ConfigError `tool.openapi`.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise _broken(path, "cannot be read") from error
    return dict(_operations_at(path, found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=64)
def _operations_at(path: Path, *_: int) -> Mapping[str, ActionSettings]:
    """Read once per version of the file; the numbers are what changes with it."""
    document = _read(path)
    found: dict[str, ActionSettings] = {}
    for route, method, operation in _operations(document):
        name = operation.get("operationId")
        if not isinstance(name, str) or not name or name in found:
            raise _broken(path, f"{method} {route}: expected an operationId of its own")
        try:
            found[name] = _action(route, method, operation, document.get("components"))
        except ValueError as error:
            # pydantic's error is a ValueError.
            raise _broken(path, f"operation {name!r}: is malformed") from error
    return found


def _read(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
        document = yaml.safe_load(data) if len(data) <= SIZE_LIMIT else None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise _broken(path, "cannot be read") from error
    return _table(document)


def _broken(path: Path, why: str) -> ConfigError:
    return ConfigError(f"openapi {str(path)!r}: {why}", code="tool.openapi")


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _operations(
    document: Mapping[str, object],
) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    for route, item in _table(document.get("paths")).items():
        for method in _METHODS:
            operation = _table(item).get(method)
            if isinstance(operation, dict):
                yield route, method.upper(), operation


def _action(
    route: str, method: str, operation: Mapping[str, object], components: object
) -> ActionSettings:
    kind, request = "query", None
    for media, content in _table(_table(operation.get("requestBody")).get("content")).items():
        if media in _MEDIA:
            kind, request = _MEDIA[media], _table(content).get("schema")
            break
    return ActionSettings.model_validate(
        {
            "method": method,
            "path": route,
            "params": kind,
            "request_schema": _whole(request, components),
            "response_schema": None,
        }
    )


def _whole(schema: object, components: object) -> dict[str, object] | None:
    """Return the schema with the document's components beside it, where its references point."""
    if not isinstance(schema, dict):
        return None
    return {"allOf": [schema], "components": components or {}}
