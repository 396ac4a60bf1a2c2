"""Actions from an OpenAPI document (3.0, 3.1): operationId names the action, its schemas come along."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from ghost_core.errors import ConfigError
from ghost_core.settings import ActionSettings
from ghost_hooks.components import Components, Side, UnresolvedError

SIZE_LIMIT = 16 * 1024 * 1024
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_JSON = re.compile(r"application/json\Z|[a-z]+/[a-z0-9.-]+\+json\Z")
_FORM = "application/x-www-form-urlencoded"
_SUCCESS = re.compile(r"2(?:[0-9]{2}|XX)\Z|default\Z")

type Table = Mapping[str, object]


def operations(path: Path) -> dict[str, ActionSettings]:
    """Return the actions of a document of at most 16 MiB, JSON or YAML; nothing outside it is read.

    Raises: ConfigError `tool.openapi`, with the file and the operation.
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
    components = Components(document)
    found: dict[str, ActionSettings] = {}
    for route, method, operation in _operations(path, document, components):
        place = f"{method} {route}"
        name = operation.get("operationId")
        if not isinstance(name, str) or not name:
            raise _broken(path, f"{place}: expected an operationId")
        if name in found:
            raise _broken(path, f"{place}: operation {name!r} is there already")
        try:
            found[name] = _action(route, method, operation, components)
        except UnresolvedError as error:
            raise _broken(path, f"operation {name!r}: {error}") from error
        except ValueError as error:
            # pydantic's error is a ValueError; its text would repeat values.
            raise _broken(path, f"operation {name!r}: is malformed") from error
    return found


def _read(path: Path) -> Table:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
        if len(data) > SIZE_LIMIT:
            raise _broken(path, "is larger than 16 MiB")
        document = _parsed(path, data)
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise _broken(path, f"cannot be read{_line(error)}") from error
    if not isinstance(document, dict) or "swagger" in document:
        raise _broken(path, "expected an OpenAPI document of version 3")
    return document


def _parsed(path: Path, data: bytes) -> object:
    if path.suffix == ".json":
        return json.loads(data)
    loader = _LOADER(data)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


# The one in C reads a large document ten times as fast; dates stay text, which they are in JSON.
_SAFE: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LOADER = type(
    "_LOADER",
    (_SAFE,),
    {
        "yaml_implicit_resolvers": {
            first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
            for first, pairs in _SAFE.yaml_implicit_resolvers.items()
        }
    },
)


def _line(error: Exception) -> str:
    """Return the place of a mistake in the file, where the parser tells it."""
    mark = getattr(error, "problem_mark", None)
    line = error.lineno if isinstance(error, json.JSONDecodeError) else mark and mark.line + 1
    return f", line {line}" if line else ""


def _broken(path: Path, why: str) -> ConfigError:
    return ConfigError(f"openapi {str(path)!r}: {why}", code="tool.openapi")


def _table(value: object) -> Table:
    return value if isinstance(value, dict) else {}


def _operations(
    path: Path, document: Table, components: Components
) -> Iterator[tuple[str, str, Table]]:
    for route, item in _table(document.get("paths")).items():
        if str(route).startswith("x-"):
            continue
        try:
            methods = components.resolved(item)
        except UnresolvedError as error:
            raise _broken(path, f"path {str(route)!r}: {error}") from error
        for method in _METHODS:
            operation = methods.get(method)
            if isinstance(operation, dict):
                yield route, method.upper(), operation


def _action(route: str, method: str, operation: Table, components: Components) -> ActionSettings:
    body = components.resolved(operation.get("requestBody"))
    kind, request = "query", None
    for media, content in _table(body.get("content")).items():
        named = _kind(media)
        if named is not None:
            kind, request = named, components.schema(_table(content).get("schema"), Side.REQUEST)
            break
    found: dict[str, Any] = {
        "method": method,
        "path": route,
        "params": kind,
        "request_schema": request,
        "response_schemas": _replies(operation, components),
    }
    if body:
        found["empty_body"] = "refuse" if body.get("required") is True else "allow"
    return ActionSettings.model_validate(found)


def _kind(media: object) -> str | None:
    plain = str(media).partition(";")[0].strip().lower()
    if _JSON.match(plain):
        return "json"
    return "form" if plain == _FORM else None


def _replies(operation: Table, components: Components) -> dict[str, object]:
    """Return the JSON schemas of the replies that mean success, by status; YAML reads 200 as a number.

    A status that is described without one has an empty schema, which asks for nothing.
    """
    found: dict[str, object] = {}
    for status, reply in _table(operation.get("responses")).items():
        named = str(status) if str(status) == "default" else str(status).upper()
        if not _SUCCESS.match(named):
            continue
        contents = _table(components.resolved(reply).get("content"))
        media = next((each for each in contents if _kind(each) == "json"), None)
        content = _table(contents.get(media)) if media is not None else {}
        schema = components.schema(content.get("schema"), Side.RESPONSE)
        found[named] = {} if schema is None else schema
    return found
