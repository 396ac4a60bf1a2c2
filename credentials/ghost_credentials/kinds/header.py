"""A named header, `header = "X-Api-Key"`; a `prefix` such as "Token " stands before the secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghost_core.errors import ConfigError
from ghost_core.header_name import folded
from ghost_credentials.grammar import fault, is_token
from ghost_credentials.head import Head
from ghost_credentials.strip import HOP_BY_HOP

FORBIDDEN: frozenset[bytes] = frozenset(
    (*HOP_BY_HOP, b"host", b"content-length", b"content-encoding", b"transfer-encoding", b"expect")
)

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings
"""Headers that carry the message itself, or one hop of it, and can never carry a secret."""


@dataclass(frozen=True, slots=True)
class Header:
    """The secret follows `prefix` in the header `name`, lower case."""

    name: bytes
    prefix: bytes = b""

    def inject(self, head: Head, secret: bytes) -> Head:
        """Set the one header of this name."""
        return head.with_header(self.name, self.prefix + secret)

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the secret."""
        return (secret,)


def build(settings: CredentialSettings, *, name: str) -> Header:
    """Make the kind; raises ConfigError for a missing or unfit header or prefix."""
    prefix = settings.prefix.encode()
    if fault(prefix + b"x") is not None:
        raise _error(name, "expected a prefix without line break or leading blank")
    return Header(header_name(settings.header or "", name=name), prefix)


def header_name(text: str, *, name: str) -> bytes:
    """Check the name of a header that is to carry a secret; raises ConfigError."""
    if not is_token(text):
        raise _error(name, "expected the name of a header, such as X-Api-Key")
    found = text.lower().encode("ascii")
    if folded(found) in FORBIDDEN or folded(found).startswith(b"proxy-"):
        raise _error(name, f"the header {text!r} cannot carry a secret")
    return found


def _error(name: str, expected: str) -> ConfigError:
    return ConfigError(
        f"credential {name!r}: {expected}",
        code="credential.header",
        hint=f'set credentials.{name}.header to "X-Api-Key", or to "Authorization" with prefix "Token "',
    )
