"""Ed25519 keys that can be destroyed: the secret lives in one locked page and nowhere else.

PyNaCl's own `SigningKey` keeps immutable bytes, which cannot be wiped. Its cffi handle signs from
a page that we map, lock, overwrite and give back.
"""

from __future__ import annotations

import importlib
import mmap
import threading
from typing import Any, NoReturn, Protocol, Self, override

from nacl.bindings import crypto_core_ed25519_is_valid_point, crypto_sign_open
from nacl.exceptions import BadSignatureError

from ghost_core.errors import IntegrityError
from ghost_core.secret import SecretBytes

__all__ = [
    "PUBLIC_BYTES",
    "SEED_BYTES",
    "SIGNATURE_BYTES",
    "Key",
    "SecretKey",
    "check_public",
    "verify",
]

PUBLIC_BYTES = 32
SEED_BYTES = 32
SIGNATURE_BYTES = 64
_SECRET_BYTES = 64  # libsodium: seed, then public key

# The compiled module has no stubs; everything of it is used in this file.
_sodium: Any = importlib.import_module("nacl._sodium")


class Key(Protocol):
    """What signs: the key itself, or its owner's signatures."""

    @property
    def public(self) -> bytes:
        """The 32 bytes of the public key."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature of the message."""
        ...


class SecretKey:
    """A signing key in a private, locked page; `wipe` zeroes the page and returns it to the kernel.

    Past the limit of locked memory (RLIMIT_MEMLOCK) `locked` is false and the key works all the same.
    The claim of `wipe` is exactly that: the key buffer was erased. Copies that `seed` revealed, and what the
    C library left in registers, are out of reach.
    """

    __slots__ = ("_buffer", "_guard", "_page", "locked", "public")

    def __init__(self) -> None:
        """Map an empty page; use `generate` or `from_seed`."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._page = mmap.mmap(-1, mmap.PAGESIZE, flags=flags)
        self._buffer: Any = _sodium.ffi.from_buffer(f"unsigned char[{mmap.PAGESIZE}]", self._page)
        self._guard = threading.Lock()
        self.locked: bool = _sodium.lib.sodium_mlock(self._buffer, _SECRET_BYTES) == 0
        self.public = b""

    @classmethod
    def generate(cls) -> Self:
        """Return a new key; its secret is written straight into the locked page."""
        key = cls()
        public = _sodium.ffi.new("unsigned char[]", PUBLIC_BYTES)
        _sodium.lib.crypto_sign_keypair(public, key._buffer)
        key.public = bytes(public)
        return key

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """Load the key of a 32-byte RFC 8032 seed.

        Raises:
            IntegrityError: the seed has another length.
        """
        if len(seed) != SEED_BYTES:
            raise IntegrityError(
                f"key seed: expected {SEED_BYTES} bytes, found {len(seed)}", code="ledger.key"
            )
        key = cls()
        public = _sodium.ffi.new("unsigned char[]", PUBLIC_BYTES)
        _sodium.lib.crypto_sign_seed_keypair(public, key._buffer, _sodium.ffi.from_buffer(seed))
        key.public = bytes(public)
        return key

    @property
    def wiped(self) -> bool:
        """Tell whether the secret is gone."""
        return self._buffer is None

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature of the message.

        Raises:
            IntegrityError: the key was wiped.
        """
        signed = _sodium.ffi.new("unsigned char[]", SIGNATURE_BYTES + len(message))
        length = _sodium.ffi.new("unsigned long long *")
        with self._guard:
            buffer = self._alive()
            _sodium.lib.crypto_sign(signed, length, message, len(message), buffer)
        return bytes(_sodium.ffi.buffer(signed, SIGNATURE_BYTES))

    def seed(self) -> SecretBytes:
        """Return the 32-byte seed, for the key file of a session.

        Raises:
            IntegrityError: the key was wiped.
        """
        with self._guard:
            return SecretBytes(bytes(_sodium.ffi.buffer(self._alive(), SEED_BYTES)))

    def wipe(self) -> bool:
        """Zero the buffer, read it back and unmap it; return whether every byte read as zero."""
        with self._guard:
            if self._buffer is None:
                return True
            _sodium.lib.sodium_memzero(self._buffer, _SECRET_BYTES)
            zero = not any(bytes(_sodium.ffi.buffer(self._buffer)))
            _sodium.ffi.release(self._buffer)
            self._buffer = None
            self._page.close()
            return zero

    def _alive(self) -> Any:
        if self._buffer is None:
            raise IntegrityError("key: was wiped, it signs nothing more", code="ledger.key")
        return self._buffer

    @override
    def __repr__(self) -> str:
        return f"SecretKey(public={self.public.hex()})"

    @override
    def __reduce__(self) -> NoReturn:
        raise TypeError("a key cannot be pickled or copied")


def check_public(public: bytes) -> None:
    """Refuse a public key that is no canonical point of the prime-order group.

    Under the identity or another low-order point one fixed signature verifies every message, so
    such a key never gets as far as a signature check.

    Raises:
        IntegrityError: wrong length, not canonical, not on the curve, or of small or mixed order.
    """
    if len(public) != PUBLIC_BYTES:
        raise IntegrityError(
            f"public key: expected {PUBLIC_BYTES} bytes, found {len(public)}", code="ledger.key"
        )
    if not crypto_core_ed25519_is_valid_point(public):
        raise IntegrityError(
            f"public key {public.hex()}: not a point of the prime-order group", code="ledger.key"
        )


def verify(public: bytes, message: bytes, signature: bytes) -> None:
    """Check a detached Ed25519 signature (RFC 8032 §5.1.7, strict).

    Raises:
        IntegrityError: wrong lengths, or the signature does not match.
    """
    if len(public) != PUBLIC_BYTES or len(signature) != SIGNATURE_BYTES:
        raise IntegrityError(
            f"signature: expected {PUBLIC_BYTES}+{SIGNATURE_BYTES} bytes of key and signature, "
            f"found {len(public)}+{len(signature)}",
            code="ledger.signature",
        )
    try:
        crypto_sign_open(signature + message, public)
    except BadSignatureError as error:
        raise IntegrityError(
            f"signature does not match key {public.hex()}", code="ledger.signature"
        ) from error
