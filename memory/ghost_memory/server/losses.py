"""What of a text was not kept, as an answer says it: an end that was too long, and secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ghost_memory.limits import fit

__all__ = ["FIELDS", "Losses", "losses"]

FIELDS: Final[Mapping[str, str]] = {"shortened": "flag", "removed_secrets": "count"}
"""What the data of such an answer may hold."""


class Losses(NamedTuple):
    """A remark for the model, empty where all was kept, and the same as data."""

    remark: str
    data: Mapping[str, object]


def losses(*texts: tuple[str | None, int]) -> Losses:
    """Return what is lost when each text is kept within its limit of bytes."""
    kept = [fit(text, limit) for text, limit in texts if text]
    removed = sum(each.removed for each in kept)
    longest = max((limit for _, limit in texts), default=0)
    remark, data = "", dict[str, object]()
    if any(each.shortened for each in kept):
        remark, data["shortened"] = f" (text truncated, the longest to {longest} bytes)", True
    if removed:
        remark += f" ({removed} secret{'s' * (removed > 1)} removed before saving)"
        data["removed_secrets"] = removed
    return Losses(remark, data)
