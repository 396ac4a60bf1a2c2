"""One cookie, `cookie = "session"` (RFC 6265 §4.2); the client's own cookies do not go on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghost_core.errors import ConfigError
from ghost_credentials.grammar import is_token
from ghost_credentials.head import Head

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings

_ENDS_A_VALUE = re.compile(rb'[;,"\\]')


@dataclass(frozen=True, slots=True)
class Cookie:
    """The secret is the value of the cookie `name`."""

    name: bytes
    credential: str

    def inject(self, head: Head, secret: bytes) -> Head:
        """Set the one cookie header; raises ConfigError for a secret that would end the value."""
        if _ENDS_A_VALUE.search(secret):
            raise ConfigError(
                f'credential {self.credential!r}: expected a secret without ; , " and backslash',
                code="credential.malformed",
            )
        return head.with_header(b"cookie", self.name + b"=" + secret)

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the secret."""
        return (secret,)


def build(settings: CredentialSettings, *, name: str) -> Cookie:
    """Make the kind; raises ConfigError without the cookie's name."""
    cookie = settings.cookie or ""
    if not is_token(cookie):
        raise ConfigError(
            f"credential {name!r}: expected the name of a cookie",
            code="credential.cookie",
            hint=f'set credentials.{name}.cookie to a name such as "session"',
        )
    return Cookie(cookie.encode("ascii"), name)
