"""The callable through which the engine passes the pieces of a streamed body."""

from __future__ import annotations

from collections.abc import Callable

from ghost_addons import quarantine
from ghost_addons.session import LiveSession

__all__ = ["Relay", "closing"]

type Relay = Callable[[bytes], list[bytes]]


def closing(
    session: LiveSession, work: Callable[[bytes], bytes], *, on_error: Callable[[Exception], None]
) -> Relay:
    """Return what passes on the bytes that `work` makes of each piece; `b""` marks the end.

    It never raises, since the engine would leave the client hanging: on an error it closes through `on_error`
    and lets nothing pass any more. It returns a list, since an empty piece would end a chunked body, and what
    follows would be read as a further message (RFC 9112 §7.1): HTTP/2 may send empty frames in the middle of
    a body.
    """
    broken = False

    def relay(chunk: bytes) -> list[bytes]:
        nonlocal broken
        if broken:
            return []
        try:
            quarantine.require_free(session)
            passed = work(chunk)
        except Exception as error:  # noqa: BLE001  # the engine's stream has no other way to fail closed
            broken = True
            on_error(error)
            return []
        return [passed] if passed else []

    return relay
