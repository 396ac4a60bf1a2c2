"""The tools of the settings: which requests are theirs, and how `ghost act` builds one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote

from ghost_core.errors import ConfigError, DeniedError, UsageError
from ghost_core.ids import uuid7_hex
from ghost_core.settings import ActionSettings, Settings, ToolSettings
from ghost_hooks import params as parameters
from ghost_hooks.openapi import operations
from ghost_hooks.path import readings
from ghost_hooks.pattern import HostPattern, Methods, PathPattern, is_method
from ghost_hooks.scope import authority, nearest
from ghost_hooks.target import Target

_BASE = re.compile(r"(https?)://([^/?#\s]+)(/[^?#\s]*)?\Z")
_TEMPLATE = re.compile(r"\{([A-Za-z0-9_.-]+)\}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}\Z")
_BODILESS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_SAFE_TO_REPEAT = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
_MEDIA = {"json": b"application/json", "form": b"application/x-www-form-urlencoded"}


@dataclass(frozen=True, slots=True)
class Route:
    """The requests that are one action of one tool; `action` is None for a tool without actions."""

    tool: str
    action: str | None
    methods: Methods
    scheme: str
    host: HostPattern
    port: int
    path: PathPattern

    def match(self, method: str, target: Target) -> bool:
        """Tell whether the request is this action, as sent or as a server may read it."""
        return (
            self.methods.match(method)
            and (self.scheme, self.port) == (target.scheme, target.port)
            and self.host.allows(target.host)
            and (
                self.path.match(target.path)
                or any(map(self.path.match_folded, readings(target.path)))
            )
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request of `ghost act`; `idempotency` is the key that all attempts share."""

    method: str
    url: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    idempotency: str | None

    @property
    def repeatable(self) -> bool:
        """Whether sending it again cannot act twice (RFC 9110 §9.2.2, or a declared key)."""
        return self.method in _SAFE_TO_REPEAT or self.idempotency is not None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All tools; routes are sorted by how specific they are, then by their order in the file."""

    tools: Mapping[str, ToolSettings]
    actions: Mapping[str, Mapping[str, ActionSettings]]
    routes: tuple[Route, ...]

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Read the tools; raises ConfigError `tool.malformed` naming the tool."""
        actions = {
            name: {**(operations(tool.openapi) if tool.openapi else {}), **tool.actions}
            for name, tool in settings.tools.items()
        }
        routes = [
            route
            for name, tool in settings.tools.items()
            for route in _routes(name, tool, actions[name])
        ]
        for name, tool in settings.tools.items():
            _require_idempotency(name, tool)
        routes.sort(key=lambda route: route.path.weight, reverse=True)
        return cls(settings.tools, actions, tuple(routes))

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The actions of each tool, as `parse_all` wants them."""
        return {name: tuple(self.actions[name]) for name in self.tools}

    def match(self, method: str, target: Target) -> list[tuple[str, str | None]]:
        """Return for each tool that the request belongs to its most specific action."""
        found: dict[str, str | None] = {}
        for route in self.routes:
            if route.tool not in found and route.match(method, target):
                found[route.tool] = route.action
        return list(found.items())

    def prepare(
        self,
        tool: str,
        action: str,
        params: Mapping[str, object],
        *,
        idempotency_key: str | None = None,
    ) -> Prepared:
        """Build the request of one action; a tool without actions takes "METHOD /path" as its action.

        Raises: UsageError for an unknown name, a missing path parameter or an odd value.
        """
        settings = self._tool(tool)
        spec = self._action(tool, action)
        method = spec.method.split(",")[0].strip().upper()
        if not is_method(method):
            raise UsageError(f"action {action!r}: has no single method, found {spec.method!r}")
        path, rest = _filled(spec.path, params)
        body, query = _encoded(method, spec.params, rest)
        url = f"{(settings.base_url or '').rstrip('/')}{path}" + (f"?{query}" if query else "")
        headers = [(b"accept", b"application/json")]
        if body:
            headers.append((b"content-type", _MEDIA[spec.params]))
        key = _idempotency(settings, method, idempotency_key)
        if key:
            headers.append((key[0].encode(), key[1].encode()))
        return Prepared(method, _checked(url), tuple(headers), body, key[1] if key else None)

    def _tool(self, tool: str) -> ToolSettings:
        settings = self.tools.get(tool)
        if settings is None:
            hint = nearest(tool, self.tools) or "the tools of ghost.toml: ghost config show"
            raise UsageError(f"tool {tool!r}: is not known", code="tool.unknown", hint=hint)
        if not settings.base_url:
            raise UsageError(f"tool {tool!r}: has no base_url", code="tool.no_url")
        return settings

    def _action(self, tool: str, action: str) -> ActionSettings:
        known = self.actions[tool]
        if action in known:
            return known[action]
        method, _, path = action.partition(" ")
        if not known and is_method(method) and (not path or path.startswith("/")):
            kind: parameters.Kind = "query" if method in _BODILESS else "json"
            return ActionSettings(method=method, path=path or "/", params=kind)
        hint = nearest(action, known) if known else 'an action such as "GET /v1/models"'
        raise UsageError(
            f"tool {tool!r}: has no action {action!r}",
            code="tool.unknown",
            hint=hint or f"see tools.{tool}.actions: ghost config show",
        )


def sources(settings: Settings) -> tuple[Path, ...]:
    """Return the files beside the settings that hold tools: OpenAPI documents and schemas."""
    found = [tool.openapi for tool in settings.tools.values()]
    for tool in settings.tools.values():
        for spec in tool.actions.values():
            schemas = (
                spec.request_schema,
                spec.response_schema,
                *spec.response_schemas.values(),
            )
            found += [each for each in schemas if isinstance(each, Path)]
    return tuple(dict.fromkeys(path for path in found if path is not None))


def _routes(
    name: str, tool: ToolSettings, actions: Mapping[str, ActionSettings]
) -> Iterator[Route]:
    if not tool.base_url:
        return
    found = _BASE.match(tool.base_url)
    if found is None:
        raise _malformed(name, "base_url: expected https://host/path")
    scheme, base = found[1], (found[3] or "").rstrip("/")
    free = {} if tool.openapi else {None: ActionSettings(method="*", path="/**")}
    try:
        host, port = authority(found[2], scheme=scheme)
        for action, spec in (actions or free).items():
            if not spec.path.startswith("/"):
                raise _malformed(name, f"action {action!r}: expected a path that starts with /")
            methods, path = Methods.parse(spec.method), PathPattern.parse(base + spec.path)
            yield Route(name, action, methods, scheme, host, port, path)
    except UsageError as error:
        raise _malformed(name, error.message) from error


def _malformed(name: str, why: str) -> ConfigError:
    return ConfigError(f"tool {name!r}: {why}", code="tool.malformed")


def _filled(template: str, params: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Fill the path; return it with the parameters that are left."""
    if "*" in template:
        raise UsageError(f"path {template!r}: is a pattern, expected {{name}} in place of *")
    names = _TEMPLATE.findall(template)
    missing = [name for name in names if params.get(name) is None or params[name] == ""]
    if missing:
        raise UsageError(
            f"path {template!r}: expected parameter {missing[0]!r}", code="act.missing"
        )
    path = _TEMPLATE.sub(
        lambda found: quote(parameters.text_of(found[1], params[found[1]]), safe=""), template
    )
    return path, {name: value for name, value in params.items() if name not in names}


def _encoded(method: str, kind: parameters.Kind, values: Mapping[str, object]) -> tuple[bytes, str]:
    """Return body and query."""
    if kind == "query" or method in _BODILESS - {"DELETE"}:
        return b"", parameters.encode("query", values)
    if method == "DELETE" and not values:
        return b"", ""
    return parameters.encode(kind, values).encode(), ""


def _checked(url: str) -> str:
    try:
        return Target.parse(url).url
    except DeniedError as error:
        raise UsageError(f"action: builds no valid request, {error.message}") from error


def _idempotency(tool: ToolSettings, method: str, key: str | None) -> tuple[str, str] | None:
    if not tool.idempotency or method in _SAFE_TO_REPEAT:
        return None
    return tool.idempotency.partition(":")[2].lower(), key or uuid7_hex()


def _require_idempotency(name: str, tool: ToolSettings) -> None:
    where, _, header = (tool.idempotency or "header:X").partition(":")
    if where != "header" or not _TOKEN.match(header):
        raise _malformed(name, "idempotency: expected header:NAME")
