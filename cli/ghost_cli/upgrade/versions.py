"""Versions of this program in order, as far as an upgrade needs it: releases, and what comes before one."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["Version", "parse"]

_FORM: Final = re.compile(
    r"v?(?P<numbers>\d{1,9}(?:\.\d{1,9}){0,5})(?P<before>[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)[-_.]?\d*"
    r"(?:\.dev\d+)?)?(?:\+[a-z0-9.]+)?",
    re.IGNORECASE,
)


class Version(NamedTuple):
    """A version as it is compared; one before a release is smaller than the release."""

    numbers: tuple[int, ...]
    released: bool


def parse(text: str) -> Version | None:
    """Return a version, or None for a text that is none we compare (an epoch, a post-release)."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    numbers = [int(each) for each in found["numbers"].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return Version(tuple(numbers), found["before"] is None)
