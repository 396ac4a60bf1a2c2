"""The payload box: libsodium's secretbox with a random nonce (XSalsa20-Poly1305).

Each session has one data key, itself sealed under the home's vault key. Dropping the sealed key
makes every payload of the session unreadable, in this database and in its backups.
"""

from __future__ import annotations

import os

from nacl.bindings import crypto_secretbox, crypto_secretbox_open
from nacl.exceptions import CryptoError

from ghost_core.errors import IntegrityError
from ghost_core.secret import SecretBytes

__all__ = ["new_key", "seal", "unseal"]

KEY_BYTES = 32
_NONCE_BYTES = 24


def new_key() -> SecretBytes:
    """Draw a 32-byte data key."""
    return SecretBytes(os.urandom(KEY_BYTES))


def seal(key: bytes, data: bytes) -> bytes:
    """Return nonce and box; 40 bytes longer than the data."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + crypto_secretbox(data, nonce, key)


def unseal(key: bytes, sealed: bytes) -> bytes:
    """Return the data.

    Raises:
        IntegrityError: code `ledger.sealed`, another key or changed bytes.
    """
    try:
        return crypto_secretbox_open(sealed[_NONCE_BYTES:], sealed[:_NONCE_BYTES], key)
    except (CryptoError, ValueError) as error:
        raise IntegrityError(
            "sealed data: does not open under this key", code="ledger.sealed"
        ) from error
