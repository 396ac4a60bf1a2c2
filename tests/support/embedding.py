"""Embedders to try things on: one in memory that a test steers, and servers that speak Ollama or OpenAI."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ghost_core.errors import UnavailableError
from ghost_memory.embedding.embedder import Rows, Space, unit
from ghost_memory.embedding.remote import REFUSED
from support.exchange import Exchange
from support.upstream import Upstream

WAIT_SECONDS = 20.0


def row(text: str, dimensions: int) -> list[float]:
    """Return how often words of each sort occur: equal words, equal vectors."""
    counts = [0.0] * dimensions
    for word in text.lower().split():
        counts[zlib.crc32(word.encode()) % dimensions] += 1.0
    return counts


@dataclass(slots=True)
class WordsEmbedder:
    """Embeds by counting words; `down` and `refuses` make it fail, `gate` makes it wait."""

    revision: str = "1"
    dimensions: int = 64
    weight: float = 0.3
    down: bool = False
    refuses: str = ""
    broken: bool = False
    texts: list[str] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    gate: threading.Event | None = None
    closed: threading.Event = field(default_factory=threading.Event)

    def space(self) -> Space:
        if self.down:
            raise UnavailableError("embedder: is down", code="memory.embedder")
        return Space("words", self.revision, self.dimensions)

    def known(self) -> Space | None:
        return None if self.down else self.space()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Rows:
        self.texts.extend(texts)
        self.asked.set()
        if self.gate is not None:
            self.gate.wait(WAIT_SECONDS)
        if self.down or self.closed.is_set():
            raise UnavailableError("embedder: is down", code="memory.embedder")
        if self.broken:
            raise ZeroDivisionError
        if self.refuses and any(self.refuses in text for text in texts):
            raise UnavailableError("embedder: refused", code=REFUSED)
        rows = [row(text, self.dimensions) for text in texts]
        return unit(np.array(rows, np.float32).reshape(len(texts), self.dimensions))

    def close(self) -> None:
        self.closed.set()
        if self.gate is not None:
            self.gate.set()


@dataclass(slots=True)
class ModelServer:
    """Answers `/api/embed` and `/v1/embeddings` of an upstream; keeps what it was asked."""

    up: Upstream
    model: str = "words"
    dimensions: int = 8
    statuses: list[int] = field(default_factory=list)
    inputs: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.up.route("/api/embed", self._ollama)
        self.up.route("/v1/embeddings", self._openai)

    def _rows(self, exchange: Exchange) -> list[list[float]] | None:
        texts = json.loads(exchange.record.body)["input"]
        self.inputs.append(texts)
        status = self.statuses.pop(0) if self.statuses else 200
        if status != 200:
            exchange.reply(status, b'{"error": "no"}', [("Retry-After", "0")])
            return None
        return [row(text, self.dimensions) for text in texts]

    def _ollama(self, exchange: Exchange) -> None:
        rows = self._rows(exchange)
        if rows is not None:
            answer = {"model": self.model, "embeddings": rows}
            exchange.reply(200, json.dumps(answer).encode())

    def _openai(self, exchange: Exchange) -> None:
        rows = self._rows(exchange)
        if rows is not None:
            listed = [{"index": n, "embedding": each} for n, each in enumerate(rows)]
            answer = {"model": self.model, "data": listed[::-1]}
            exchange.reply(200, json.dumps(answer).encode())
