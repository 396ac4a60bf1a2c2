"""How values of entries are written in outputs: the prefixes and times of the public contract."""

from __future__ import annotations

from ghost_core.clock import rfc3339

__all__ = ["fingerprint", "instant", "sha256", "signature", "text_of"]


def sha256(digest: str | bytes | None) -> str | None:
    """Write a leaf hash or a salted commitment: `sha256_` and 64 hex digits."""
    return None if digest is None else "sha256_" + text_of(digest)


def signature(raw: str | bytes | None) -> str | None:
    """Write the signature of an entry: `ed25519_sig_` and 128 hex digits."""
    return None if raw is None else "ed25519_sig_" + text_of(raw)


def text_of(value: str | bytes) -> str:
    """Return hex digits, whether they came as bytes or as digits."""
    return value.hex() if isinstance(value, bytes) else value


def instant(microseconds: int | None) -> str | None:
    """Write an instant as RFC 3339 UTC, whole seconds."""
    return None if microseconds is None else rfc3339(microseconds)


def fingerprint(digest: bytes) -> str:
    """Write the first 16 bytes of a digest so that two people can read them to each other."""
    digits = digest[:16].hex()
    return "SHA256:" + " ".join(digits[at : at + 8] for at in range(0, len(digits), 8))
