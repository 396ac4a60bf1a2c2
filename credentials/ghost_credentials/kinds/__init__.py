"""The kinds of injection, by the name they have in `ghost.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from ghost_credentials.head import Head
from ghost_credentials.kinds import (
    basic,
    bearer,
    body,
    cookie,
    header,
    path,
    placeholder,
    query,
)

__all__ = ["KINDS", "Kind"]


class Kind(Protocol):
    """One way to put a secret on the wire."""

    def inject(self, head: Head, secret: bytes) -> Head:
        """Return the head with the secret in exactly one place, header names in lower case."""
        ...

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return every text an upstream could echo: the secret, what it was joined to or split into."""
        ...


KINDS: Mapping[str, Callable[..., Kind]] = MappingProxyType(
    {
        "bearer": bearer.build,
        "basic": basic.build,
        "header": header.build,
        "query": query.build,
        "path": path.build,
        "body": body.build,
        "cookie": cookie.build,
        "placeholder": placeholder.build,
    }
)
"""Each takes the credential's settings and `name=`, and raises ConfigError for what it cannot use."""
