"""What a session may do, as text: `tool`, `tool:action`, `tool:action@host`, `"GET https://host/path"`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from ghost_core.errors import DeniedError, UsageError
from ghost_hooks.pattern import ANY, HostPattern, Methods, PathPattern, name_glob
from ghost_hooks.target import DEFAULT_PORTS, PORT_LIMIT, split_authority

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_TOOL = re.compile(
    rf"(?P<tool>model:{_NAME}|{_NAME})(?::(?P<action>[A-Za-z0-9_*][A-Za-z0-9_.*/-]*)(?:@(?P<host>\S+))?)?\Z"
)
_BARE = re.compile(rf"{_NAME}(?::[A-Za-z0-9_*][A-Za-z0-9_.*/-]*)?\Z")
_RAW = re.compile(
    r"(?P<methods>\S+)\s+(?P<scheme>[A-Za-z]+)://(?P<authority>[^/\s]+)(?P<path>/\S*)?\Z"
)


@dataclass(frozen=True, slots=True)
class RawPart:
    """The part of a raw scope after the methods."""

    methods: Methods
    scheme: str
    host: HostPattern
    port: int
    path: PathPattern


@dataclass(frozen=True, slots=True)
class Scope:
    """One granted scope: a tool with an action pattern and host, or a raw method and URL pattern."""

    text: str
    tool: str = ""
    action: str = ANY
    host: HostPattern | None = None
    raw: RawPart | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read one scope; raises UsageError `scope.grammar`, `.method`, `.host` or `.path`."""
        text = " ".join(text.split())
        if "://" in text:
            return cls(text, raw=_raw_part(text))
        found = _TOOL.match(text)
        if found is None:
            raise UsageError(
                f"scope {text!r}: expected tool, tool:action, tool:action@host or 'GET https://host/path'",
                code="scope.grammar",
            )
        host = HostPattern.parse(found["host"]) if found["host"] else None
        return cls(text, tool=found["tool"], action=found["action"] or ANY, host=host)

    def covers(self, other: Scope) -> bool:
        """Tell whether everything that the other allows is allowed here."""
        if self.raw is not None or other.raw is not None:
            return _raw_covers(self.raw, other.raw)
        if self.tool != other.tool or not name_glob(self.action).match(other.action):
            return False
        if self.host is None:
            return True
        return other.host is not None and self.host.covers(other.host)


def split(texts: Iterable[str]) -> list[str]:
    """Split `a,b` where every part is a bare `tool` or `tool:action`; other texts stay whole."""
    found: list[str] = []
    for text in texts:
        parts = [part.strip() for part in text.split(",")]
        bare = all(_BARE.match(part) for part in parts)
        found.extend(parts if bare else [text])
    return found


def parse_all(
    texts: Sequence[str], known_tools: Collection[str] | Mapping[str, Collection[str]]
) -> tuple[Scope, ...]:
    """Read the scopes of a command line against the known tools, without doubles.

    A mapping names the actions of each tool too; an empty set of actions means any method.
    Raises: UsageError `scope.unknown` with the nearest name, or for bad grammar.
    """
    scopes = tuple(dict.fromkeys(Scope.parse(text) for text in split(texts)))
    for scope in scopes:
        if scope.raw is None:
            _check_known(scope, known_tools)
    return scopes


def contains(parent: Sequence[Scope | str], child: Sequence[Scope | str]) -> bool:
    """Tell whether the child's scopes are a subset of the parent's; in doubt they are not."""
    owned = [_scope(each) for each in parent]
    return all(any(own.covers(wanted) for own in owned) for wanted in map(_scope, child))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return a hint that names the nearest known name, if one is near."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"nearest is {found[0]}" if found else None


def _scope(each: Scope | str) -> Scope:
    return each if isinstance(each, Scope) else Scope.parse(each)


def _raw_part(text: str) -> RawPart:
    found = _RAW.match(text)
    if found is None:
        raise UsageError(
            f"scope {text!r}: expected methods and a URL, such as 'GET,POST https://api.example.com/v1/*'",
            code="scope.grammar",
        )
    scheme = found["scheme"].lower()
    if scheme not in DEFAULT_PORTS:
        raise UsageError(f"scope {text!r}: expected http or https", code="scope.grammar")
    host, port = authority(found["authority"], scheme=scheme)
    path = PathPattern.parse(found["path"] or "/**")
    return RawPart(Methods.parse(found["methods"]), scheme, host, port, path)


def authority(text: str, *, scheme: str) -> tuple[HostPattern, int]:
    """Read `host[:port]` where the host may be a pattern; raises UsageError."""
    try:
        name, port = split_authority(text, default=DEFAULT_PORTS[scheme])
    except DeniedError as error:
        raise UsageError(f"host {text!r}: {error.message}", code="scope.host") from error
    host = HostPattern.parse(name)
    if host.text == ANY or not 0 < port <= PORT_LIMIT:
        raise UsageError(f"host {text!r}: expected a name and a valid port", code="scope.host")
    return host, port


def _raw_covers(ours: RawPart | None, theirs: RawPart | None) -> bool:
    if ours is None or theirs is None:
        return False
    return (
        (ours.scheme, ours.port) == (theirs.scheme, theirs.port)
        and ours.methods.covers(theirs.methods)
        and ours.host.covers(theirs.host)
        and ours.path.covers(theirs.path)
    )


def _check_known(scope: Scope, known: Collection[str] | Mapping[str, Collection[str]]) -> None:
    if scope.tool not in known:
        raise UsageError(
            f"scope {scope.text!r}: no tool {scope.tool!r}",
            code="scope.unknown",
            hint=nearest(scope.tool, known) or "the tools of ghost.toml: ghost config show",
        )
    actions = known[scope.tool] if isinstance(known, Mapping) else ()
    pattern = name_glob(scope.action)
    if actions and not any(pattern.match(action) for action in actions):
        raise UsageError(
            f"scope {scope.text!r}: tool {scope.tool!r} has no action {scope.action!r}",
            code="scope.unknown",
            hint=nearest(scope.action, actions)
            or f"see tools.{scope.tool}.actions: ghost config show",
        )
