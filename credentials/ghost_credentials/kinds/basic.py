"""`Authorization: Basic …` (RFC 7617) from a user name and a secret, or from a secret alone."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghost_core.errors import ConfigError
from ghost_credentials.grammar import fault
from ghost_credentials.head import Head

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings


@dataclass(frozen=True, slots=True)
class Basic:
    """The secret is the password of `username`; without one it is `user:password`, or a user alone."""

    username: str

    def inject(self, head: Head, secret: bytes) -> Head:
        """Set the one authorization header."""
        return head.with_header(b"authorization", b"Basic " + base64.b64encode(self._pair(secret)))

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the pair, the secret and the password in it, the longest first."""
        pair = self._pair(secret)
        texts = (pair, secret, pair.partition(b":")[2])
        return tuple(dict.fromkeys(text for text in texts if text))

    def _pair(self, secret: bytes) -> bytes:
        if self.username:
            return self.username.encode() + b":" + secret
        # an API key as the user, with an empty password, is a habit of payment and code hosts
        return secret if b":" in secret else secret + b":"


def build(settings: CredentialSettings, *, name: str) -> Basic:
    """Make the kind; raises ConfigError for a user name with a colon or a control character."""
    username = settings.username or ""
    if ":" in username or (username and fault(username.encode()) is not None):
        raise ConfigError(
            f"credential {name!r}: expected a username without colon, line break or outer blanks",
            code="credential.username",
        )
    return Basic(username)
