"""`Authorization: Bearer SECRET` (RFC 6750 §2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ghost_credentials.head import Head

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings


@dataclass(frozen=True, slots=True)
class Bearer:
    """The secret is a bearer token."""

    def inject(self, head: Head, secret: bytes) -> Head:
        """Set the one authorization header."""
        return head.with_header(b"authorization", b"Bearer " + secret)

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return the secret."""
        return (secret,)


def build(_settings: CredentialSettings, *, name: str) -> Bearer:  # noqa: ARG001  # every kind is built alike
    """Make the kind; it has no settings of its own."""
    return Bearer()
