"""Where settings come from, strongest first: flags, `GHOST_*`, the project's file, the home's file.

Nothing here knows pydantic: `peek` answers from these layers alone, `load` checks what they say.
"""

from __future__ import annotations

import errno
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ghost_core import trust
from ghost_core.errors import ConfigError
from ghost_core.look import is_link
from ghost_core.paths import Home
from ghost_core.settings_fields import FIELDS, RESERVED, TABLES, variable
from ghost_core.settings_tighten import Steps, Tree, lookup, put, tighten

NAME = "ghost.toml"
SIZE_LIMIT = 1024 * 1024


class Layer(NamedTuple):
    """What one source says; `origin` is the file's path, "environment" or "command line"."""

    origin: str
    values: Mapping[str, object]


class Sources(NamedTuple):
    """All layers, strongest first, and what the user should be told about them."""

    layers: tuple[Layer, ...]
    warnings: tuple[str, ...]

    def find(self, steps: Steps) -> tuple[object, str]:
        """Return the strongest value at the end of the steps with its origin; (None, "default") if none."""
        for layer in self.layers:
            value = lookup(layer.values, steps)
            if value is not None:
                return value, layer.origin
        return None, "default"

    def merged(self) -> Tree:
        """Return what all layers say together: tables are joined, of all else the strongest stands."""
        tree: Tree = {}
        for layer in reversed(self.layers):
            tree = _joined(tree, layer.values)
        return tree


def _joined(weak: Mapping[str, object], strong: Mapping[str, object]) -> Tree:
    tree = dict(weak)
    for name, new in strong.items():
        old = tree.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            tree[name] = _joined(old, new)
        else:
            tree[name] = new
    return tree


def gather(home: Home, cwd: Path, overrides: Mapping[str, object] | None = None) -> Sources:
    """Read every source; raises ConfigError for a file or variable that cannot be read."""
    warnings: list[str] = []
    layers = [Layer("command line", _nested(overrides or {})), _environment(warnings)]
    own = _file_layer(home.config)
    path = project_file(home, cwd)
    if path is not None:
        layers.append(_project_layer(home, path, own.values, warnings))
    layers.append(own)
    return Sources((*_clamped(layers, str(path)), *layers), tuple(warnings))


def _clamped(layers: list[Layer], project: str) -> tuple[Layer, ...]:
    """Shorten a lifetime to a maximum that a stronger source sets, or a project's file: that tightens."""
    at, longest = _strongest(layers, "session.max_ttl_seconds")
    below, ttl = _strongest(layers, "session.ttl_seconds")
    if at == len(layers) or not isinstance(ttl, int) or not isinstance(longest, int):
        return ()
    tightens = at < below or (at != below and layers[at].origin == project)
    if longest < 1 or ttl <= longest or not tightens:
        return ()
    return (Layer(layers[at].origin, {"session": {"ttl_seconds": longest}}),)


def _strongest(layers: list[Layer], key: str) -> tuple[int, object]:
    """Return the place of the strongest layer that says a value, and the value; the default comes last."""
    steps = tuple(key.split("."))
    for place, layer in enumerate(layers):
        value = lookup(layer.values, steps)
        if value is not None:
            return place, value
    return len(layers), FIELDS[key].default


def project_file(home: Home, cwd: Path) -> Path | None:
    """Return the nearest `ghost.toml` from the folder upwards that is not the home's own."""
    for folder in (cwd.absolute(), *cwd.absolute().parents):
        path = folder / NAME
        if _is_file(path) and path.resolve() != home.config.resolve():
            return path
    return None


def _is_file(path: Path) -> bool:
    """Tell whether a file is there. What cannot be looked for is refused: it could tighten something."""
    return _looked(path, Path.is_file)


def _exists(path: Path) -> bool:
    return _looked(path, Path.exists)


def _looked(path: Path, look: Callable[[Path], bool]) -> bool:
    try:
        return look(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False  # nothing has such a name
        raise ConfigError(
            f"file {str(path)!r}: cannot be looked for, {error.strerror}", code="config.unreadable"
        ) from error


def read_file(path: Path) -> bytes:
    """Return the bytes of a configuration file; raises ConfigError above 1 MiB or if unreadable."""
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise ConfigError(
            f"file {str(path)!r}: cannot be read, {error.strerror}", code="config.unreadable"
        ) from error
    if len(data) > SIZE_LIMIT:
        raise ConfigError(f"file {str(path)!r}: over 1 MiB", code="config.size")
    return data


def parse(data: bytes, path: Path) -> Tree:
    """Read TOML; numbers with a point become Decimal; raises ConfigError that names only the place."""
    try:
        return tomllib.loads(data.decode(), parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        from ghost_core.settings_syntax import explained

        why, hint = explained(str(error), data.decode(errors="replace"))
        # Not chained: the parser's own message may repeat a value.
        raise ConfigError(
            f"file {str(path)!r}: is no TOML{why}", code="config.syntax", hint=hint
        ) from None


def _file_layer(path: Path) -> Layer:
    """Read the home's file; none is no setting, but what stands there and is no file is refused."""
    values: Tree = {}
    if _is_file(path):
        values = parse(read_file(path), path)
    elif _exists(path) or is_link(path):  # its rules would be gone without a word
        raise ConfigError(
            f"file {str(path)!r}: is not a regular file, expected one or nothing",
            code="config.unreadable",
        )
    return Layer(str(path), _anchored(values, path.parent))


def _project_layer(
    home: Home, path: Path, base: Mapping[str, object], warnings: list[str]
) -> Layer:
    data = read_file(path)
    values = _anchored(parse(data, path), path.parent)
    if not trust.trusted(home, path, data):
        values, dropped = tighten(values, base)
        if dropped:
            names = ", ".join(sorted(dropped))
            warnings.append(
                f"{path}: ignored until you trust this file: {names}; to trust it: ghost trust {path}"
            )
    if isinstance(values.get("rules"), list):
        values = {**values, "rules": [*_list(base.get("rules")), *_list(values["rules"])]}
    return Layer(str(path), values)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _anchored(values: Tree, folder: Path) -> Tree:
    """Make relative file names relative to the file that says them, not to a project that we are in."""
    for steps in (("proxy", "upstream_ca"), ("hooks", "dir")):
        _anchor(values, steps, folder)
    _anchor(values, ("database", "url"), folder, scheme="sqlite:///")
    for table in ("credentials", "webhooks"):
        for name in _names(values, (table,)):
            _anchor(values, (table, name, "secret"), folder, scheme="file:")
    for tool in _names(values, ("tools",)):
        _anchor(values, ("tools", tool, "openapi"), folder)
        for action in _names(values, ("tools", tool, "actions")):
            of_action = ("tools", tool, "actions", action)
            for schema in ("request_schema", "response_schema"):
                _anchor(values, (*of_action, schema), folder)
            for status in _names(values, (*of_action, "response_schemas")):
                _anchor(values, (*of_action, "response_schemas", status), folder)
    return values


def _names(values: Tree, steps: Steps) -> list[str]:
    found = lookup(values, steps)
    return list(found) if isinstance(found, dict) else []


def _anchor(values: Tree, steps: Steps, folder: Path, *, scheme: str = "") -> None:
    text = lookup(values, steps)
    if not isinstance(text, str) or not text.startswith(scheme):
        return
    place = text.removeprefix(scheme)
    if place and not place.startswith(("/", "~", "$")):
        put(values, steps, f"{scheme}{folder / place}")


def _nested(flat: Mapping[str, object]) -> Tree:
    """Turn dotted names into tables; a flag that was not given (None) says nothing."""
    tree: Tree = {}
    for key, value in flat.items():
        if value is not None:
            put(tree, tuple(key.split(".")), value)
    return tree


def _environment(warnings: list[str]) -> Layer:
    known = {variable(key): key for key in FIELDS}
    tables = tuple(variable(table) for table in TABLES)
    tree: Tree = {}
    for name in sorted(os.environ):
        if not name.startswith("GHOST_") or name in RESERVED:
            continue
        if name in known:
            put(tree, tuple(known[name].split(".")), _plain(name, known[name]))
        elif name in tables or name.startswith(tuple(f"{table}__" for table in tables)):
            put(tree, tuple(name[6:].lower().split("__")), _value(name))
        else:
            warnings.append(_unknown(name, [*known, *tables]))
    return Layer("environment", tree)


def _plain(name: str, key: str) -> object:
    text = os.environ[name]
    match FIELDS[key].kind:
        case "whole" if re.fullmatch(r"-?\d{1,18}", text):
            return int(text)
        case "list":
            return _value(name) if text.startswith("[") else [*filter(None, text.split(","))]
        case _:
            return text


def _value(name: str) -> object:
    text = os.environ[name]
    if not text.startswith(("[", "{")):
        return text
    try:
        value: object = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        raise ConfigError(f"variable {name}: is no JSON", code="config.syntax") from None
    return value


def _unknown(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"variable {name}: unknown, ignored" + (f"; nearest is {near[0]}" if near else "")
