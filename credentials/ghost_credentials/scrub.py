"""Takes secrets out of what goes to the agent and into the ledger, in whole texts and in streams.

A text without a secret passes byte for byte. Of a stream the end of the unfinished line waits for the
next piece, whatever it says: what passes tells whole secrets from other texts, and no beginnings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, override

from ghost_core.secret import SecretBytes
from ghost_credentials.needles import MIN_ENCODED_BYTES, needles
from ghost_credentials.search import Search

MARK = b"[redacted by ghost]"

_MIN_WAIT_BYTES = 256
_PIECE_BYTES = 1 << 18


class Cleaned(NamedTuple):
    """A text without secrets, and how many were taken out."""

    data: bytes
    hits: int


class Scrubber:
    """Finds the forms of a set of secrets; immutable, to be shared by any number of streams.

    `short` counts the secrets that are searched as they are only; see `needles`.
    """

    __slots__ = ("_by_line", "_needles", "_search", "_wait_bytes", "short")

    def __init__(self, secrets: Sequence[SecretBytes]) -> None:
        values = [secret.reveal() for secret in secrets]
        self.short = sum(0 < len(value) < MIN_ENCODED_BYTES for value in values)
        forms = [needles(value) for value in values]
        found = {needle for each in forms for needle in each}
        # a regular expression takes the first alternative that fits, so the longest must come first
        self._needles = tuple(sorted(found, key=lambda each: (-len(each), each)))
        self._search = Search(forms)
        # no secret has a line end, but UTF-16 writes some letters with one
        self._by_line = not any(b"\n" in needle for needle in found)
        # a power of two, so that it does not tell how long a secret is
        self._wait_bytes = max(_MIN_WAIT_BYTES, 1 << self.reach.bit_length()) if found else 0

    def holds(self, data: bytes) -> bool:
        """Tell whether the text holds any form of a secret."""
        return self._search.finds(data)

    def clean(self, data: bytes) -> Cleaned:
        """Replace every form of a secret by the mark, leftmost and longest first."""
        if not self.holds(data):
            return Cleaned(data, 0)
        if len(data) <= _PIECE_BYTES:
            return Cleaned(*self._pattern(data).subn(MARK, data))
        return self._in_pieces(data)

    def _in_pieces(self, data: bytes) -> Cleaned:
        """Clean a long text so that others have a turn in between: one replacement gives them none."""
        stream = self.stream()
        parts = [
            stream.feed(data[at : at + _PIECE_BYTES]) for at in range(0, len(data), _PIECE_BYTES)
        ]
        return Cleaned(b"".join([*parts, stream.finish()]), stream.count)

    def after(self, sent: bytes, data: bytes) -> Cleaned:
        """Clean a text that follows one which has gone already: of a secret over both, the rest goes.

        Of what was sent the last `reach` bytes are enough.
        """
        clean = self.clean(data)
        joined = sent + clean.data
        if not sent or not self.holds(joined):
            return clean
        found = self._pattern(joined).finditer(joined)
        over = next((each for each in found if each.start() < len(sent) < each.end()), None)
        if over is None:  # a mark holds a secret such as "ghost"
            return clean
        return Cleaned(MARK + joined[over.end() :], clean.hits + 1)

    @property
    def reach(self) -> int:
        """How far back the beginning of a secret can lie, bytes."""
        return max((len(needle) for needle in self._needles), default=1) - 1

    def stream(self) -> StreamScrubber:
        """Begin a stream."""
        return StreamScrubber(lambda: self)

    def settled(self, data: bytes) -> int:
        """Return up to where a stream is settled: what begins before is a whole form, or none.

        Only lengths and line ends count. If the text counted, somebody who sees what arrives could try
        how a secret begins, and find it letter by letter.
        """
        start = max(0, len(data) - self._wait_bytes)
        return max(start, data.rfind(b"\n", start) + 1) if self._by_line else start

    def split(self, data: bytes) -> Split:
        """Clean the beginning of a stream and keep the end that is not settled."""
        end = self.settled(data)
        if not self.holds(data):
            return Split(data[:end], 0, data[end:])
        parts: list[bytes] = []
        place = 0
        for found in self._pattern(data).finditer(data):
            if found.start() >= end:
                break
            parts.append(data[place : found.start()])
            place = found.end()
        end = max(place, end)
        parts.append(data[place:end])
        return Split(MARK.join(parts), len(parts) - 1, data[end:])

    def _pattern(self, data: bytes) -> re.Pattern[bytes]:
        """Return the pattern of the forms that are in the text; one of all forms would be large."""
        present = [needle for needle in self._needles if needle in data]
        return re.compile(b"|".join(map(re.escape, present)))

    @override
    def __repr__(self) -> str:
        return f"Scrubber({len(self._needles)} forms)"


class Split(NamedTuple):
    """What of a stream may go on, how many secrets were taken out of it, and what has to wait."""

    data: bytes
    hits: int
    held: bytes


class StreamScrubber:
    """Cleans a text that comes in pieces; the same result as cleaning it whole.

    It asks for the scrubber at each piece: a secret that is used first while the text comes can be in
    the rest of it.
    """

    __slots__ = ("_current", "_held", "count")

    def __init__(self, current: Callable[[], Scrubber]) -> None:
        self._current = current
        self._held = b""
        self.count = 0

    def feed(self, chunk: bytes) -> bytes:
        """Take a piece and return what may go on; the end of an unfinished line waits."""
        found = self._current().split(self._held + chunk)
        self._held = found.held
        self.count += found.hits
        return found.data

    def whole(self, data: bytes) -> bytes:
        """Take a text that is here as a whole, instead of `feed` and `finish`."""
        found = self._current().clean(data)
        self.count += found.hits
        return found.data

    def finish(self) -> bytes:
        """Return the rest, at the end of the text."""
        found = self._current().clean(self._held)
        self._held = b""
        self.count += found.hits
        return found.data

    @override
    def __repr__(self) -> str:
        return f"StreamScrubber({self.count} taken out, {len(self._held)} bytes wait)"
