"""The body of a reply on its way to the agent: decoded, scrubbed, and passed on without a coding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ghost_core.errors import FailedError, LimitError
from ghost_credentials.decode import Decoder, Limits, decoder
from ghost_credentials.scrub import Scrubber, StreamScrubber

PIECE_BYTES = 8_000_000
"""What a piece of a coded reply may become."""
_QUICK = Limits(total_bytes=200_000)


class ReplyScrubber:
    """Takes the body as the upstream sent it and gives identity-coded bytes without secrets.

    The caller removes `Content-Encoding` and `Content-Length`. Raises FailedError `body.coding` for
    a coding that cannot be undone: the reply is then refused, or marked as not inspected.

    What comes in pieces is cleaned between other work, so that a piece may not become long.
    """

    __slots__ = ("_coding", "_decoder", "_limits", "_stream")

    def __init__(
        self,
        current: Callable[[], Scrubber],
        content_encoding: bytes | None,
        limits: Limits | None = None,
    ) -> None:
        self._coding = content_encoding
        self._limits = limits or Limits()
        self._decoder = self._opened(min(self._limits.piece_bytes, PIECE_BYTES))
        self._stream = StreamScrubber(current)

    def _opened(self, piece_bytes: int) -> Decoder:
        found = decoder(self._coding, replace(self._limits, piece_bytes=piece_bytes))
        if found is None:
            raise FailedError("body: its content coding cannot be undone", code="body.coding")
        return found

    @property
    def count(self) -> int:
        """How many secrets were taken out so far."""
        return self._stream.count

    def expands(self, data: bytes) -> bool:
        """Tell whether a whole body becomes so large that it takes long to clean."""
        inner = decoder(self._coding, _QUICK) if self._coding and data else None
        try:
            if inner is not None:
                inner.feed(data)
        except LimitError:
            return True
        except FailedError:
            pass  # it is refused once it is read
        return False

    def feed(self, data: bytes) -> bytes:
        """Take a piece; raises as `Decoder.feed` does."""
        return self._stream.feed(self._decoder.feed(data))

    def whole(self, data: bytes) -> bytes:
        """Take a body that is here as a whole, instead of `feed` and `finish`; raises as both do."""
        inner = self._opened(self._limits.piece_bytes)
        plain = inner.feed(data)
        plain += inner.finish()
        return self._stream.whole(plain)

    def finish(self) -> bytes:
        """Return the rest, at the end of the body; raises as `Decoder.finish` does."""
        return self._stream.feed(self._decoder.finish()) + self._stream.finish()
