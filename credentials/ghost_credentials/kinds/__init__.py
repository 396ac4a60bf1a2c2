"""The kinds of injection, by the name they have in `ghost.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ghost_credentials.kinds import basic, bearer, header, placeholder, query
from ghost_credentials.kinds.kind import Kind

KINDS: Mapping[str, Callable[..., Kind]] = MappingProxyType(
    {
        "bearer": bearer.build,
        "basic": basic.build,
        "header": header.build,
        "query": query.build,
        "placeholder": placeholder.build,
    }
)
"""Each takes the credential's settings and `name=`, and raises ConfigError for what it cannot use."""

__all__ = ["KINDS", "Kind"]
