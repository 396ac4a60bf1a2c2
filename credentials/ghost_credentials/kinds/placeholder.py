"""The agent sends a stand-in wherever its client wants to, and the secret takes its place.

Replaced are header values, the pair inside Basic, and the query parameter that the binding names. A
binding that names a `header` is replaced in that header only. Where the stand-in does not occur,
nothing is injected: a client such as git asks first without credentials and shows them after the
401. `Host` and the framing are never touched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from ghost_credentials.head import Head
from ghost_credentials.kinds.header import FORBIDDEN, header_name
from ghost_credentials.kinds.query import names, pair
from ghost_credentials.placeholder import (
    BasicPair,
    basic_pair,
    parse_placeholder,
    placeholder_for,
)

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings


@dataclass(frozen=True, slots=True)
class Placeholder:
    """Where to look: in every header or one, and in the query only if a parameter is named."""

    placeholder: bytes
    header: bytes | None = None
    parameter: str | None = None

    def inject(self, head: Head, secret: bytes) -> Head:
        """Return the head with the secret in the stand-in's places, each header once."""
        return self._in_query(self._in_headers(head, secret), secret)

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the secret; the pair of a Basic header is known only to the client."""
        return (secret,)

    def _in_headers(self, head: Head, secret: bytes) -> Head:
        changed: dict[bytes, bytes] = {}
        for name, value in head.headers:
            lower = name.lower()
            if lower not in changed and self._may(lower):
                new = self._replaced(value, secret)
                if new is not None:
                    changed[lower] = new
        for lower, new in changed.items():
            head = head.with_header(lower, new)
        return head

    def _may(self, lower: bytes) -> bool:
        if self.header is not None:
            return lower == self.header
        return lower not in FORBIDDEN and not lower.startswith(b":")

    def _replaced(self, value: bytes, secret: bytes) -> bytes | None:
        if self.placeholder in value:
            return value.replace(self.placeholder, secret)
        basic = basic_pair(value)
        if basic is None or self.placeholder not in basic.pair:
            return None
        return BasicPair(basic.scheme, basic.pair.replace(self.placeholder, secret)).encoded()

    def _in_query(self, head: Head, secret: bytes) -> Head:
        path, mark, query = head.path.partition("?")
        if self.parameter is None or not mark:
            return head
        parts = [self._part(part, self.parameter, secret) for part in query.split("&")]
        return replace(head, path=path + "?" + "&".join(parts))

    def _part(self, part: str, parameter: str, secret: bytes) -> str:
        value = unquote_to_bytes(part.partition("=")[2])
        if not names(part, parameter) or self.placeholder not in value:
            return part
        return pair(parameter, value.replace(self.placeholder, secret))


def build(settings: CredentialSettings, *, name: str) -> Placeholder:
    """Make the kind; raises ConfigError for an unfit placeholder or header."""
    text = settings.placeholder or placeholder_for(name)
    return Placeholder(
        parse_placeholder(text, subject=f"credential {name!r}"),
        header_name(settings.header, name=name) if settings.header else None,
        settings.query or None,
    )
