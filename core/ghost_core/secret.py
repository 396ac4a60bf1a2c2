"""The only type that may carry a secret: it never prints, compares or pickles its bytes by accident."""

from __future__ import annotations

import hmac
from typing import NoReturn, override


class SecretBytes:
    """A secret value, shown as `SecretBytes(…)` everywhere; `reveal` is the single way out."""

    __slots__ = ("_buffer",)

    def __init__(self, value: bytes) -> None:
        self._buffer = bytearray(value)

    def reveal(self) -> bytes:
        """Return a copy of the bytes; call it as late as possible."""
        return bytes(self._buffer)

    def wipe(self) -> None:
        """Overwrite our buffer; copies that were revealed are out of reach."""
        for index in range(len(self._buffer)):
            self._buffer[index] = 0

    def __len__(self) -> int:
        return len(self._buffer)

    def __bool__(self) -> bool:
        return bool(self._buffer)

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SecretBytes):
            return NotImplemented
        return hmac.compare_digest(self._buffer, other._buffer)

    __hash__ = None  # type: ignore[assignment]  # a secret is no dictionary name

    @override
    def __repr__(self) -> str:
        return "SecretBytes(…)"

    @override
    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled or copied")
