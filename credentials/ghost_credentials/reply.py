"""The body of a reply on its way to the agent: decoded, scrubbed, and passed on without a coding."""

from __future__ import annotations

from collections.abc import Callable

from ghost_core.errors import FailedError
from ghost_credentials.decode import Limits, decoder
from ghost_credentials.scrub import Scrubber, StreamScrubber


class ReplyScrubber:
    """Takes the body as the upstream sent it and gives identity-coded bytes without secrets.

    The caller removes `Content-Encoding` and `Content-Length`. Raises FailedError `body.coding` for
    a coding that cannot be undone: the reply is then refused, or marked as not inspected.
    """

    __slots__ = ("_decoder", "_stream")

    def __init__(
        self,
        current: Callable[[], Scrubber],
        content_encoding: bytes | None,
        limits: Limits | None = None,
    ) -> None:
        found = decoder(content_encoding, limits)
        if found is None:
            raise FailedError("body: its content coding cannot be undone", code="body.coding")
        self._decoder = found
        self._stream = StreamScrubber(current)

    @property
    def count(self) -> int:
        """How many secrets were taken out so far."""
        return self._stream.count

    def feed(self, data: bytes) -> bytes:
        """Take a piece; raises as `Decoder.feed` does."""
        return self._stream.feed(self._decoder.feed(data))

    def whole(self, data: bytes) -> bytes:
        """Take a body that is here as a whole, instead of `feed` and `finish`; raises as both do."""
        plain = self._decoder.feed(data)
        plain += self._decoder.finish()
        return self._stream.whole(plain)

    def finish(self) -> bytes:
        """Return the rest, at the end of the body; raises as `Decoder.finish` does."""
        return self._stream.feed(self._decoder.finish()) + self._stream.finish()
