"""Keys of a command line, `--key` and `--log`: read before anything is judged."""

from __future__ import annotations

from collections.abc import Iterable

from ghost_core.errors import IntegrityError, UsageError
from ghost_ledger.note import Vkey
from ghost_ledger.verify.pins import read_key


def pinned(text: str) -> str:
    """Return the key as it was given.

    An empty one is refused too: it comes from a variable that is not set, and would trust our own.

    Raises:
        UsageError: it is no key; a record is not to be blamed for that.
    """
    try:
        read_key(text)
    except IntegrityError as error:
        raise UsageError(
            f"--key: no key ({error.message})",
            code="usage.key",
            hint="verify_key of ghost spawn, or the line that ghost bundle ends with",
        ) from error
    return text


def log_keys(texts: Iterable[str]) -> list[Vkey]:
    """Return the keys of the logs that a witness cosigns for; raises UsageError for what is none."""
    try:
        return [Vkey.parse(text) for text in texts]
    except IntegrityError as error:
        raise UsageError(
            f"--log: no key ({error.message})",
            code="usage.key",
            hint="the line that ghost bundle ends with, behind --key",
        ) from error
