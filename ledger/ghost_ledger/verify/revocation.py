"""The caller's list of revoked log keys: which key, and up to which size of the log its heads still count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from ghost_core.errors import IntegrityError
from ghost_ledger.checkpoint import parse_size
from ghost_ledger.note import Vkey

__all__ = ["REVOKED_LIMIT", "Revocations", "revocation_line"]

REVOKED_LIMIT: Final = 256 * 1024
_SESSION: Final = "/s/"


@dataclass(frozen=True, slots=True)
class Revocations:
    """The last size for which a key still counts, by key; a key that is not there is not revoked."""

    sizes: Mapping[Vkey, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a list: `revoked VKEY SIZE` on a line, # for comments.

        Raises:
            IntegrityError: code `ledger.revocation`, naming the line; or `ledger.key`.
        """
        if len(data) > REVOKED_LIMIT or (data and not data.endswith(b"\n")):
            raise _broken(f"expected at most {REVOKED_LIMIT} bytes that end with a newline")
        sizes: dict[Vkey, int] = {}
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n")[:-1], 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            key, size = _read(number, words)
            sizes[key] = min(size, sizes.get(key, size))
        return cls(sizes)

    def check(self, signers: Sequence[Vkey], size: int) -> str:
        """Return a remark on a head of this size, if those who signed it count up to a size only.

        Raises:
            IntegrityError: code `ledger.revoked`, nobody is left by whom it counts.
        """
        if not signers or any(key not in self.sizes for key in signers):
            return ""
        last = max(self.sizes[key] for key in signers)
        if size > last:
            named = ", ".join(key.format() for key in signers)
            raise _revoked(f"the head has size {size}, its key {named} is revoked above {last}")
        return f"; the key of the head is revoked above size {last}, and the head has {size}"

    def check_heirs(self, keys: Sequence[Vkey]) -> None:
        """Refuse a head that none of these keys signed, if that may be for what is not followed any more.

        Raises:
            IntegrityError: code `ledger.revoked`.
        """
        named = next((key for key in keys if key in self.sizes), None)
        if named is not None:
            raise _revoked(
                f"the log key {named.format()} is revoked, so no key that it handed over to counts; "
                "give the log's present key"
            )


def revocation_line(key: str, size: int) -> str:
    """Return the line of a list for a key whose heads count up to a size."""
    return f"revoked {key} {size}"


def _read(number: int, words: Sequence[str]) -> tuple[Vkey, int]:
    if len(words) != 3 or words[0] != "revoked":
        raise _broken(f"line {number}: expected `revoked VKEY SIZE`")
    key = Vkey.parse(words[1])
    if _SESSION in key.name:
        raise _broken(f"line {number}: the key of a session signs no heads")
    return key, parse_size(words[2])


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"revocations: {reason}", code="ledger.revocation")


def _revoked(reason: str) -> IntegrityError:
    return IntegrityError(reason, code="ledger.revoked")
