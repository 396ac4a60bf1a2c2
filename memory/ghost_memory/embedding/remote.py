"""An embedder that asks a server, with all its ways to fail: slow, away, another model than before.

A search waits two seconds once and then does without for a while; the background waits longer and tries
again. The first answer settles model and dimensions; an answer that differs from it is refused, so that
vectors of two spaces never meet under one name.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ghost_core.errors import GhostError, UnavailableError
from ghost_core.retry import retrying
from ghost_core.secret import SecretBytes
from ghost_hooks.posting import Answer, Poster
from ghost_memory.embedding.embedder import Rows, Space, unit
from ghost_memory.embedding.served import Dialect, Reply, read

BATCH: Final = 32
ATTEMPTS: Final = 3
QUERY_SECONDS: Final = 2.0
REST_SECONDS: Final = 15.0
MAX_REPLY_BYTES: Final = 16_000_000
REFUSED: Final = "memory.embedder_refused"

_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_TEXT_REFUSED: Final = frozenset({400, 413, 422})
_PREFIXES: Final = {"nomic": ("search_document: ", "search_query: ")}


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model is served: base URL, how it is spoken to, under which name, with which key."""

    url: str
    dialect: Dialect
    model: str
    key: Callable[[], SecretBytes] | None = None


class RemoteEmbedder:
    """Embeds by asking a server; may be shared between threads."""

    weight = 0.5

    def __init__(self, server: Server, poster: Poster, *, first_seconds: float = 0.5) -> None:
        self._server = server
        self._poster = poster
        self._quick = replace(poster, timeout_seconds=min(QUERY_SECONDS, poster.timeout_seconds))
        self._first_seconds = first_seconds
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._space: Space | None = None
        self._rests_until = 0.0

    def space(self) -> Space:
        """Return the space, which the server is asked for at the first time."""
        if self._space is None:
            self.embed(["ghost"])
        if self._space is None:
            raise self._unavailable("has not told its dimensions")
        return self._space

    def known(self) -> Space | None:
        """Return the space, if an answer has told it."""
        return self._space

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Rows:
        """Return a row for each text; see the protocol.

        The code is `memory.embedder_refused` where the server will not take one of these texts.
        """
        named = [self._prefix(query=query) + text for text in texts]
        batches = [named[start : start + BATCH] for start in range(0, len(named), BATCH)]
        rows = [self._settled(self._asked(batch, query=query)) for batch in batches]
        return unit(np.concatenate(rows)) if rows else np.empty((0, 0), np.float32)

    def close(self) -> None:
        """End what is under way; nothing is asked any more."""
        self._stop.set()

    def _prefix(self, *, query: bool) -> str:
        found = (pair for name, pair in _PREFIXES.items() if name in self._server.model.lower())
        return next(found, ("", ""))[query]

    def _asked(self, texts: list[str], *, query: bool) -> Reply:
        """Ask once for a search, which others wait for; else up to three times."""
        if query and time.monotonic() < self._rests_until:
            raise self._unavailable("did not answer a moment ago")
        try:
            answer = retrying(
                lambda: self._post(texts, self._quick if query else self._poster),
                attempts=1 if query else ATTEMPTS,
                when=lambda last: last.status in _AGAIN,
                on=(UnavailableError,),
                first_seconds=self._first_seconds,
                wait=lambda last: last.retry_after and min(last.retry_after, QUERY_SECONDS),
                stop=self._stop,
            )
            return self._reply(answer, len(texts))
        except UnavailableError as error:
            if query and error.code != REFUSED:
                self._rests_until = time.monotonic() + REST_SECONDS
            raise

    def _post(self, texts: list[str], poster: Poster) -> Answer:
        if self._stop.is_set():
            raise self._unavailable("is not asked any more")
        server = self._server
        body = json.dumps(server.dialect.body(server.model, texts)).encode()
        url = server.url + server.dialect.path
        try:
            return poster.post(
                url, body, self._headers(), stop=self._stop, reply_limit=MAX_REPLY_BYTES
            )
        except GhostError as error:
            raise self._unavailable(f"cannot be asked, {error.message}") from error

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self._server.key is not None:
            headers["Authorization"] = f"Bearer {self._server.key().reveal().decode('latin-1')}"
        return headers

    def _reply(self, answer: Answer, count: int) -> Reply:
        if answer.status in _TEXT_REFUSED:
            raise self._unavailable(f"refused a text with {answer.status}", code=REFUSED)
        if answer.status != 200 or answer.over:
            what = "more than 16 MB" if answer.over else f"status {answer.status}"
            raise self._unavailable(f"expected vectors, found {what}")
        try:
            return read(self._server.dialect, answer.body, count=count)
        except ValueError as error:
            raise self._unavailable(str(error)) from error

    def _settled(self, reply: Reply) -> Rows:
        """Take an answer of the space of the first one; raises UnavailableError for another."""
        found = Space(f"{self._server.dialect.name}/{reply.model}", "1", reply.rows.shape[1])
        with self._lock:
            self._space = self._space or found
        if found != self._space:
            raise self._unavailable(f"expected {self._space.id}, found {found.id}")
        return reply.rows

    def _unavailable(self, what: str, *, code: str = "memory.embedder") -> UnavailableError:
        return UnavailableError(
            f"embedder {self._server.dialect.name} {self._server.model!r}: {what}",
            code=code,
            hint='search goes on with words; backend = "static" needs no server',
        )
