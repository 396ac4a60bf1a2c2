"""What a session's scopes allow, compiled: one look-up by host, then the most specific action."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from ghost_core.errors import ConfigError
from ghost_core.settings import ActionSettings, ToolSettings
from ghost_core.settings_tables import LimitSettings
from ghost_hooks.limits import limited
from ghost_hooks.params import Kind
from ghost_hooks.path import folded
from ghost_hooks.pattern import HostPattern, Methods, PathPattern, effective, name_glob
from ghost_hooks.replies import NO_REPLIES, Replies
from ghost_hooks.schemas import Schema
from ghost_hooks.scope import RawPart, Scope
from ghost_hooks.target import Target
from ghost_hooks.tools import Catalogue, Route


@dataclass(frozen=True, slots=True)
class Allowance:
    """One scope as it applies to a tool: which actions, on which host."""

    text: str
    action: re.Pattern[str]
    host: HostPattern | None

    def match(self, name: str, host: str) -> bool:
        """Tell whether it allows the action on the host."""
        return self.action.match(name) is not None and (self.host is None or self.host.allows(host))


@dataclass(frozen=True, slots=True)
class Grant:
    """A set of requests of one tool's action, or of one raw scope (`tool` empty), and its terms.

    `scope` is the text that allowed the request, empty where none has yet.
    """

    tool: str
    action: str | None
    methods: Methods
    path: PathPattern
    scope: str = ""
    allowances: tuple[Allowance, ...] = ()
    kind: Kind | None = None
    credential: str | None = None
    ghost_token: bool = False
    limits: LimitSettings | None = None
    request_schema: Schema | None = field(default=None, repr=False)
    replies: Replies = field(default=NO_REPLIES, repr=False)
    empty_body: Literal["judge", "allow", "refuse"] = "judge"

    @property
    def reads_body(self) -> bool:
        """Whether the request's body must be known before it may pass."""
        judged = self.request_schema is not None or self.empty_body == "refuse"
        return judged or limited(self.limits)

    def reaches(self, host: str) -> bool:
        """Tell whether any scope allows it on the host; the others only show what a request is."""
        return bool(self.scope) or any(
            each.host is None or each.host.allows(host) for each in self.allowances
        )

    def concerns(self, method: str, path: str) -> bool:
        """Tell whether a request is of this grant, as sent or as a server may read it."""
        return self.methods.match(method) and self.path.denies(path)

    def clear(self, path: str) -> bool:
        """Tell whether the path is of this grant however its escapes are read."""
        return self.path.match(path) and ("%" not in path or self.path.match_folded(folded(path)))

    def allowed(self, name: str, host: str) -> str | None:
        """Return the scope that allows the action on the host."""
        if self.scope:
            return self.scope
        found = (each.text for each in self.allowances if each.match(name, host))
        return next(found, None)


type _Key = tuple[str, int, str]
type _Placed = tuple[str, int, HostPattern, Grant]


@dataclass(frozen=True, slots=True)
class Grants:
    """All grants by scheme, port and host, tools first, the most specific first."""

    exact: Mapping[_Key, tuple[Grant, ...]]
    below: Mapping[_Key, tuple[Grant, ...]]

    @classmethod
    def compile(cls, catalogue: Catalogue, scopes: Sequence[Scope]) -> Self:
        """Compile the scopes; names that the catalogue does not know allow nothing.

        Raises: ConfigError for a broken schema of any tool.
        """
        _check_schemas(catalogue, {scope.tool for scope in scopes})
        placed = [*_of_tools(catalogue, scopes), *_of_urls(scopes)]
        exact: dict[_Key, list[Grant]] = {}
        below: dict[_Key, list[Grant]] = {}
        for scheme, port, host, _ in placed:
            key = (scheme, port, host.text.removeprefix("*."))
            (below if host.wild else exact)[key] = []
        for scheme, port, host, grant in placed:
            if host.wild:
                below[scheme, port, host.text[2:]].append(grant)
            for key, grants in exact.items():
                if key[:2] == (scheme, port) and host.allows(key[2]):
                    grants.append(grant)
        return cls(_frozen(exact), _frozen(below))

    def at(self, scheme: str, host: str, port: int) -> tuple[Grant, ...]:
        """Return the grants that may apply to a host."""
        found = self.exact.get((scheme, port, host))
        if found is not None:
            return found
        return self.below.get((scheme, port, host.partition(".")[2]), ())

    def reaching(self, target: Target) -> list[Grant]:
        """Return the grants that allow something at the target's scheme, host and port."""
        named = self.at(target.scheme, target.host, target.port)
        return [grant for grant in named if grant.reaches(target.host)]

    def find(
        self, method: str, target: Target, *, wanted: tuple[str, str] | None = None
    ) -> Grant | None:
        """Return the grant of a request with the scope that allows it.

        `wanted` names the tool and action that a call declares to be; it chooses among equals.
        In each tool the most specific action decides what a request is; a wider action of the same
        tool does not allow it.
        """
        decided: set[str] = set()
        named = self.at(target.scheme, target.host, target.port)
        for grant in named if wanted is None else _declared(named, method, target, wanted):
            if grant.tool in decided or not grant.concerns(method, target.path):
                continue
            # Read in two ways, the path would be two actions: then it is none.
            clear = grant.clear(target.path)
            if not clear and _spelled_apart(named, grant, method, target.path):
                continue
            scope = grant.allowed(grant.action or effective(method), target.host)
            if clear and scope is not None:
                return grant if grant.scope else replace(grant, scope=scope)
            if grant.tool:
                decided.add(grant.tool)
        return None


def _spelled_apart(named: Sequence[Grant], grant: Grant, method: str, path: str) -> bool:
    """Tell whether the tool itself has the two spellings as two actions, and this path is the other one's."""
    return any(
        each.tool == grant.tool
        and each.path.same_but(grant.path)
        and each.methods.match(method)
        and each.clear(path)
        for each in named
    )


def _declared(
    named: Sequence[Grant], method: str, target: Target, wanted: tuple[str, str]
) -> Iterable[Grant]:
    """Return the declared action, unless a more specific one of its tool is what the request is."""
    tool, action = wanted
    path = target.path
    matching = [grant for grant in named if grant.tool == tool and grant.concerns(method, path)]
    for grant in matching:
        same = grant.action is None or grant.action == action
        if same and grant.path.weight == matching[0].path.weight:
            yield grant


def _frozen(found: Mapping[_Key, list[Grant]]) -> dict[_Key, tuple[Grant, ...]]:
    return {key: tuple(grants) for key, grants in found.items()}


def _check_schemas(catalogue: Catalogue, scoped: set[str]) -> None:
    """Read the schemas of tools that no scope names too; a broken one is a broken configuration."""
    for name, tool in catalogue.tools.items():
        if name not in scoped:
            for action, spec in tool.actions.items():
                _schemas(name, action, spec)


def _of_tools(catalogue: Catalogue, scopes: Sequence[Scope]) -> Iterable[_Placed]:
    for route in catalogue.routes:
        allowances = tuple(
            Allowance(scope.text, name_glob(scope.action), scope.host)
            for scope in scopes
            if scope.raw is None and scope.tool == route.tool
        )
        if allowances:
            grant = _of_route(route, catalogue, allowances)
            yield route.scheme, route.port, route.host, grant


def _of_route(route: Route, catalogue: Catalogue, allowances: tuple[Allowance, ...]) -> Grant:
    tool = catalogue.tools[route.tool]
    if route.action is not None:
        allowances = tuple(each for each in allowances if each.action.match(route.action))
    always = next((each.text for each in allowances if each.host is None), "")
    grant = Grant(
        route.tool,
        route.action,
        route.methods,
        route.path,
        # Where one scope allows the action on every host, it is known without asking again.
        scope=always if route.action is not None else "",
        allowances=allowances,
        credential=tool.credential,
        ghost_token=tool.ghost_token,
    )
    if route.action is None:
        return grant
    if not allowances and route.action not in tool.actions:
        return grant  # nothing can allow it, and a document may have a thousand of them
    spec = catalogue.actions[route.tool][route.action]
    request, replies = _schemas(route.tool, route.action, spec, _document(tool, route.action))
    return replace(
        grant,
        kind=spec.params,
        limits=spec.limits,
        request_schema=request,
        replies=replies,
        empty_body=spec.empty_body,
    )


def _document(tool: ToolSettings, action: str) -> Path | None:
    """Return the OpenAPI document that an action comes from."""
    return None if action in tool.actions else tool.openapi


def _schemas(
    tool: str, action: str, spec: ActionSettings, document: Path | None = None
) -> tuple[Schema | None, Replies]:
    """Load the schemas of an action; an error names the document, if there is one."""
    name = f"tools.{tool}.actions.{action}"
    request = spec.request_schema
    try:
        return (
            None if request is None else Schema.load(f"{name}.request_schema", request),
            Replies.load(name, spec.response_schema, spec.response_schemas),
        )
    except ConfigError as error:
        if document is None:
            raise
        why = f"openapi {str(document)!r}: operation {action!r}: {error.message}"
        raise ConfigError(why, code="tool.openapi") from error


def _of_urls(scopes: Sequence[Scope]) -> list[_Placed]:
    raws: list[tuple[RawPart, str]] = [(each.raw, each.text) for each in scopes if each.raw]
    raws.sort(key=lambda pair: pair[0].path.weight, reverse=True)
    return [
        (raw.scheme, raw.port, raw.host, Grant("", None, raw.methods, raw.path, scope=text))
        for raw, text in raws
    ]
