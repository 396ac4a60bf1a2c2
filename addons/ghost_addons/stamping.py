"""Asking an authority for a time stamp over a head (RFC 3161 over HTTP, §3.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ghost_core.errors import FailedError, GhostError
from ghost_core.settings import Settings
from ghost_hooks.posting import Poster

__all__ = ["stamp"]

SECONDS: Final = 10.0
_REPLY_LIMIT: Final = 64 * 1024
_HEADERS: Final = {"Content-Type": "application/timestamp-query"}
_OK: Final = 200


def stamp(settings: Settings, url: str, data: bytes) -> bytes:
    """Return a token over the data; who signed it is not judged.

    Raises:
        UnavailableError: code `evidence.missing`, the extra is not installed.
        DeniedError, FailedError: as `Poster.post`; FailedError `timestamp.status`, another answer than 200.
        IntegrityError: codes `timestamp.answer`, `timestamp.token`.
    """
    from ghost_ledger import timestamp

    request = timestamp.Request.over(data)
    poster = replace(Poster.of(settings), timeout_seconds=SECONDS)
    try:
        answer = poster.post(url, request.body, _HEADERS, reply_limit=_REPLY_LIMIT)
    except GhostError as error:
        raise type(error)(
            f"time stamp: {error.message}", code=error.code, hint=error.hint
        ) from error
    if answer.status != _OK:
        raise FailedError(f"time stamp: answered {answer.status}", code="timestamp.status")
    return request.accept(answer.body)
