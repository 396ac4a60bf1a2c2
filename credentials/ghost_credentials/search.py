"""Tells whether a text holds any form of many secrets, with as few searches as that takes.

One search for each text skips by its length and is ten times faster than one expression of them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_ESCAPES = (b"\0", b"\\u", b"\\x", b"\\", b"%", b"&")
_RUN = re.compile(rb"[a-z0-9]+")
_MIN_RUN_BYTES = 8  # a shorter one would be found by chance


class _Group(NamedTuple):
    """What is searched where a text holds the marker: forms as they are, or for several what they share."""

    marker: bytes
    alone: tuple[bytes, ...]
    shared: tuple[tuple[bytes, tuple[bytes, ...]], ...]


class Search:
    """Takes the forms of each secret; immutable."""

    __slots__ = ("_groups",)

    def __init__(self, secrets: Sequence[Sequence[bytes]]) -> None:
        anchors: dict[bytes, list[bytes]] = {}
        for forms in secrets:
            for anchor, form in _anchored(forms):
                anchors.setdefault(anchor, []).append(form)
        # escaped forms are a half of all, and a text without the escape needs no search for them
        marked: dict[bytes, list[bytes]] = {}
        for anchor in anchors:
            marker = next((escape for escape in _ESCAPES if escape in anchor), b"")
            marked.setdefault(marker, []).append(anchor)
        self._groups = tuple(_group(marker, each, anchors) for marker, each in marked.items())

    def finds(self, data: bytes) -> bool:
        """Tell whether any form is in the text."""
        lower = data.lower()
        for marker, alone, shared in self._groups:
            if marker in lower:
                for form in alone:
                    if form in data:
                        return True
                for anchor, forms in shared:
                    if anchor in lower and any(form in data for form in forms):
                        return True
        return False


def _anchored(forms: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield each form of a secret with a text in lower case that it holds, the same for many of them.

    That is the longest run that no encoder escapes, or a whole form.
    """
    shortest_first = sorted(forms, key=len)
    runs = _RUN.findall(shortest_first[0].lower()) if forms else []
    run = max(runs, key=len, default=b"")
    anchors = [run] if len(run) >= _MIN_RUN_BYTES else []
    for form in shortest_first:
        lower = form.lower()
        anchor = next((each for each in anchors if each in lower), None)
        if anchor is None:
            anchors.append(lower)
        yield anchor or lower, form


def _group(marker: bytes, anchors: Sequence[bytes], forms: dict[bytes, list[bytes]]) -> _Group:
    # lower case has fewer letters to skip by, so what stands alone is searched as it is
    alone = tuple(forms[each][0] for each in anchors if len(forms[each]) == 1)
    shared = tuple((each, tuple(forms[each])) for each in anchors if len(forms[each]) > 1)
    return _Group(marker, alone, shared)
