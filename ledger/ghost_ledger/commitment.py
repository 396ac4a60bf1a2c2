"""Salted commitments: an entry can speak of a payload without holding it, and it can be erased.

HMAC-SHA-256 under a fresh 32-byte salt, over a fixed label, the field's name and the raw bytes.
Without the salt not even a four-digit amount can be guessed; with it anyone can check.
"""

from __future__ import annotations

import hashlib
import hmac
import os

from ghost_core.errors import IntegrityError

__all__ = ["SALT_BYTES", "Commitment", "check", "commit"]

SALT_BYTES = 32
_LABEL = b"ghost-commit-v1"


class Commitment:
    """A commitment that is fed piece by piece, for bodies that stream by."""

    __slots__ = ("_mac", "salt")

    def __init__(self, field: str, salt: bytes | None = None) -> None:
        """Start one; the salt is drawn here unless it is to be checked against.

        Raises:
            IntegrityError: the salt has another length than 32 bytes.
        """
        self.salt = os.urandom(SALT_BYTES) if salt is None else salt
        if len(self.salt) != SALT_BYTES:
            raise IntegrityError(
                f"commitment {field}: expected a salt of {SALT_BYTES} bytes, "
                f"found {len(self.salt)}",
                code="ledger.commitment",
            )
        self._mac = hmac.new(self.salt, _start(field), hashlib.sha256)

    def update(self, data: bytes) -> None:
        """Add the next bytes."""
        self._mac.update(data)

    def hex(self) -> str:
        """Return the commitment so far, 64 hex digits."""
        return self._mac.hexdigest()


def _start(field: str) -> bytes:
    return _LABEL + b"\x00" + field.encode() + b"\x00"


def commit(field: str, data: bytes) -> tuple[bytes, str]:
    """Commit to bytes at once; return the fresh salt and the 64 hex digits."""
    salt = os.urandom(SALT_BYTES)
    return salt, hmac.digest(salt, _start(field) + data, "sha256").hex()


def check(field: str, salt: bytes, data: bytes, expected: str) -> bool:
    """Tell whether the commitment of field, salt and data is the expected one.

    Raises:
        IntegrityError: the salt has another length than 32 bytes.
    """
    commitment = Commitment(field, salt)
    commitment.update(data)
    return hmac.compare_digest(commitment.hex().encode(), expected.encode())
