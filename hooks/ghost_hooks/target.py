"""Where a request goes, in the one form that is judged and sent (scheme, host, port, path, query)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from ghost_core.errors import DeniedError
from ghost_hooks.host import canonical_host, refused
from ghost_hooks.path import canonical_path, canonical_query

__all__ = ["DEFAULT_PORTS", "Target", "canonical_host", "canonical_path", "canonical_query"]

DEFAULT_PORTS = {"http": 80, "https": 443}
PORT_LIMIT = 65535
REMEMBERED = 2000
"""How long a path with its query may be, characters, to be remembered; longer ones would fill the memory."""
_URL = re.compile(r"(?P<scheme>[A-Za-z]+)://(?P<authority>[^/?#\\]*)(?P<rest>.*)\Z", re.DOTALL)
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^\[\]:]*)(?::(?P<port>[0-9]{1,5}))?\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """A canonical target; building one from any spelling either yields that form or refuses.

    Raises: DeniedError `target.scheme`, `target.host`, `target.path` or `target.query`.
    """

    scheme: str
    host: str
    port: int
    path: str = "/"
    query: str = ""

    def __post_init__(self) -> None:
        if self.scheme not in DEFAULT_PORTS:
            raise DeniedError("target: expected http or https", code="target.scheme")
        if not 0 < self.port <= PORT_LIMIT:
            raise refused(f"expected a port from 1 to {PORT_LIMIT}, found {self.port}")
        object.__setattr__(self, "host", canonical_host(self.host))
        object.__setattr__(self, "path", canonical_path(self.path))
        object.__setattr__(self, "query", canonical_query(self.query))

    @classmethod
    def parse(cls, url: str) -> Self:
        """Read an absolute URL; userinfo, fragments and odd ports are refused."""
        found = _URL.match(url)
        if found is None:
            raise DeniedError("target: is no absolute http or https URL", code="target.scheme")
        scheme = found["scheme"].lower()
        host, port = split_authority(found["authority"], default=DEFAULT_PORTS.get(scheme, 443))
        path, _, query = found["rest"].partition("?")
        return cls(scheme, host, port, path, query)

    @classmethod
    def at(cls, scheme: str, host: str, port: int, path_and_query: str) -> Target:
        """Build a target from a request line in origin form, as a proxy reads it."""
        known = len(path_and_query) <= REMEMBERED
        return (_at if known else _made)(scheme, host, port, path_and_query)

    @property
    def authority(self) -> str:
        """Host and, unless it is the scheme's own, port; IPv6 in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def path_and_query(self) -> str:
        """The request line's origin form."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def url(self) -> str:
        """The absolute URL."""
        return f"{self.scheme}://{self.authority}{self.path_and_query}"


def _made(scheme: str, host: str, port: int, path_and_query: str) -> Target:
    path, _, query = path_and_query.partition("?")
    return Target(scheme, host, port, path, query)


# agents call the same paths again and again; a refused one raises, and is not kept
_at = lru_cache(maxsize=256)(_made)


def split_authority(text: str, *, default: int) -> tuple[str, int]:
    """Split `host[:port]`, not yet canonical; raises DeniedError `target.host` for anything else."""
    if "@" in text:
        raise refused("comes with user information")
    found = _AUTHORITY.match(text)
    if found is None:
        raise refused("expected host or host:port")
    return found["host"], int(found["port"] or default)
