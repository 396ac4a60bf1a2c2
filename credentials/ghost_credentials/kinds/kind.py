"""What every kind of injection offers."""

from __future__ import annotations

from typing import Protocol

from ghost_credentials.head import Head


class Kind(Protocol):
    """One way to put a secret on the wire."""

    def inject(self, head: Head, secret: bytes) -> Head:
        """Return the head with the secret in exactly one place, header names in lower case."""
        ...

    def exposures(self, secret: bytes) -> tuple[bytes, ...]:
        """Return every text an upstream could echo: the secret, and what it was joined to or split into."""
        ...
