"""How servers of embedding models are asked and what they answer: Ollama, and all who speak as OpenAI."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from ghost_memory.embedding.embedder import Rows

MAX_DIMENSIONS: Final = 8192
_ODD: Final = re.compile(r"[^\w.:/@+-]")  # a name is shown to agents, and may not speak to them


class Reply(NamedTuple):
    """The model that a server says it used, and a row for each text."""

    model: str
    rows: Rows


class Dialect(Protocol):
    """One way to ask for vectors."""

    name: str
    path: str

    def body(self, model: str, texts: Sequence[str]) -> Mapping[str, object]:
        """Return what is posted as JSON."""
        ...

    def rows(self, answer: Mapping[str, Any]) -> object:
        """Return the lists of numbers by text; may raise KeyError, TypeError, ValueError."""
        ...


class Ollama:
    """`POST /api/embed`."""

    name = "ollama"
    path = "/api/embed"

    def body(self, model: str, texts: Sequence[str]) -> Mapping[str, object]:
        """Return what is posted; a text that is too long for the model is shortened there."""
        return {"model": model, "input": list(texts), "truncate": True}

    def rows(self, answer: Mapping[str, Any]) -> object:
        """Return `embeddings` as it is."""
        return answer["embeddings"]


class OpenAI:
    """`POST /v1/embeddings`."""

    name = "openai"
    path = "/v1/embeddings"

    def body(self, model: str, texts: Sequence[str]) -> Mapping[str, object]:
        """Return what is posted."""
        return {"model": model, "input": list(texts), "encoding_format": "float"}

    def rows(self, answer: Mapping[str, Any]) -> object:
        """Return each `embedding`, by its `index`."""
        listed = sorted(answer["data"], key=lambda each: int(each["index"]))
        return [each["embedding"] for each in listed]


def read(dialect: Dialect, body: bytes, *, count: int) -> Reply:
    """Read an answer of a server, which may hold anything; raises ValueError, saying what was expected."""
    try:
        answer = json.loads(body)
        model, rows = answer["model"], np.asarray(dialect.rows(answer), dtype=np.float32)
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise ValueError("expected a model and lists of numbers") from error
    if not isinstance(model, str) or not 0 < len(model) <= 256:
        raise ValueError("expected the name of a model")
    if rows.ndim != 2 or rows.shape[0] != count:
        raise ValueError(f"expected {count} lists of one length")
    if not 0 < rows.shape[1] <= MAX_DIMENSIONS or not np.isfinite(rows).all():
        raise ValueError(f"expected finite numbers, up to {MAX_DIMENSIONS} for each text")
    return Reply(_ODD.sub("_", model), rows)
