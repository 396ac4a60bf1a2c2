"""What `--agent URL` says: the provider's hosts, the variable of its key, the pinned model."""

from __future__ import annotations

import difflib
import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ghost_core.errors import UsageError

_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}\Z")
_LONGEST = 2048


@dataclass(frozen=True, slots=True)
class Vendor:
    """A provider of models: its hosts, its key's variable, the paths on which a model is pinned."""

    name: str
    hosts: tuple[str, ...]
    key_name: str
    model_paths: tuple[str, ...]

    @property
    def scope(self) -> str:
        """The scope that a profile of this vendor implies."""
        return f"model:{self.name}"


OPENAI: Final = Vendor(
    "openai",
    ("api.openai.com",),
    "OPENAI_API_KEY",
    ("/v1/chat/completions", "/v1/responses", "/v1/completions"),
)
ANTHROPIC: Final = Vendor(
    "anthropic", ("api.anthropic.com",), "ANTHROPIC_API_KEY", ("/v1/messages", "/v1/complete")
)
VENDORS: Final = {vendor.name: vendor for vendor in (OPENAI, ANTHROPIC)}


@dataclass(frozen=True, slots=True)
class Profile:
    """One agent as it was named.

    `model` is the pinned model, None pins nothing. `name` is a LangChain chain, a record only.
    `reverse_url` is where a custom agent listens.
    """

    url: str
    kind: str
    vendor: Vendor | None = None
    model: str | None = None
    name: str | None = None
    reverse_url: str | None = None
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The provider's model hosts; none where the name does not tell the provider."""
        return self.vendor.hosts if self.vendor else ()

    @property
    def scopes(self) -> tuple[str, ...]:
        """What the profile allows by itself, unless `--no-model` takes it away."""
        return (self.vendor.scope,) if self.vendor else ()

    def pins(self, path: str) -> bool:
        """Tell whether a request to this path must name the pinned model."""
        return (
            self.model is not None and self.vendor is not None and path in self.vendor.model_paths
        )


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the part behind `://` is read: `model` required, optional, `name`, `none` or a `url`."""

    rest: str
    vendor: Vendor | None = None
    environment: tuple[tuple[str, str], ...] = ()


_KINDS: Final = {
    "openai": _Kind("model", OPENAI),
    "anthropic": _Kind("model", ANTHROPIC),
    "langchain": _Kind("name"),
    "claude-code": _Kind("none", ANTHROPIC, (("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),)),
    "codex": _Kind("none", OPENAI),
    "opencode": _Kind("none"),
    "goose": _Kind("none"),
    "custom": _Kind("url"),
}


def parse(url: str) -> Profile:
    """Read an `--agent` URL.

    `openai://` and `anthropic://` without a model pin nothing; `claude-code://`, `codex://`,
    `opencode://` and `goose://` take nothing behind the slashes; `custom://` takes the http or
    https URL of the agent.

    Raises:
        UsageError: code `agent.unknown` with the nearest kind, or `agent.url`.
    """
    scheme, mark, rest = url.partition("://")
    if not mark or len(url) > _LONGEST:
        raise _wrong(url, "expected KIND://NAME, such as openai://gpt-5")
    kind = _KINDS.get(scheme)
    if kind is None:
        raise _unknown(scheme)
    match kind.rest:
        case "model":
            return Profile(url, scheme, kind.vendor, model=_named(url, rest) if rest else None)
        case "name":
            return Profile(url, scheme, name=_named(url, rest))
        case "url":
            return Profile(url, scheme, reverse_url=_reverse(url, rest))
        case _:
            if rest:
                raise _wrong(url, f"expected nothing behind {scheme}://")
            return Profile(url, scheme, kind.vendor, environment=kind.environment)


def _named(url: str, rest: str) -> str:
    if not _MODEL.match(rest):
        raise _wrong(url, "expected a name of letters, digits and . _ : / @ + -")
    return rest


def _reverse(url: str, rest: str) -> str:
    try:
        found = urlsplit(rest)
        port = found.port
    except ValueError as error:
        raise _wrong(url, "expected custom:// and an http or https URL") from error
    if found.scheme not in {"http", "https"} or not found.hostname or port == 0:
        raise _wrong(url, "expected custom:// and an http or https URL")
    if found.username is not None or found.query or found.fragment or re.search(r"[\s\\]", rest):
        raise _wrong(url, "expected no user, query or fragment")
    if found.scheme == "http" and not _is_loopback(found):
        raise _wrong(url, "expected https for an agent on another machine")
    return rest


def _is_loopback(found: SplitResult) -> bool:
    host = found.hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _wrong(url: str, expected: str) -> UsageError:
    return UsageError(
        f"agent {url[:200]!r}: {expected}", code="agent.url", hint="ghost possess --help"
    )


def _unknown(scheme: str) -> UsageError:
    near = difflib.get_close_matches(scheme, _KINDS, n=1, cutoff=0.5)
    hint = f"nearest is {near[0]}://" if near else f"known: {', '.join(_KINDS)}"
    return UsageError(f"agent {scheme[:64]!r}: unknown kind", code="agent.unknown", hint=hint)
