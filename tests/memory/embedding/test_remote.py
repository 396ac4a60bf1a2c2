"""An embedder that asks a server, over real sockets."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from ghost_core.errors import NotFoundError, UnavailableError
from ghost_core.secret import SecretBytes
from ghost_hooks.posting import Poster
from ghost_memory.embedding.remote import BATCH, REFUSED, RemoteEmbedder, Server
from ghost_memory.embedding.served import Dialect, Ollama, OpenAI
from support.embedding import ModelServer
from support.processes import free_port
from support.upstream import Upstream

KEY = b"sk-embed-8841-only-here"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with Upstream() as up:
        yield ModelServer(up)


def embedder(
    server: ModelServer,
    dialect: Dialect | None = None,
    *,
    model: str = "words",
    seconds: float = 5.0,
    key: bytes = b"",
) -> RemoteEmbedder:
    poster = Poster((server.up.authority,), None, seconds)
    spoken = dialect or Ollama()
    found = (lambda: SecretBytes(key)) if key else None
    return RemoteEmbedder(Server(server.up.url, spoken, model, found), poster, first_seconds=0.01)


def refusal(made: RemoteEmbedder, *texts: str, query: bool = False) -> UnavailableError:
    with pytest.raises(UnavailableError) as caught:
        made.embed(list(texts) or ["a"], query=query)
    return caught.value


@pytest.mark.parametrize("dialect", [Ollama(), OpenAI()])
def test_rows_come_back_in_order_and_of_length_one(server: ModelServer, dialect: Dialect) -> None:
    rows = embedder(server, dialect).embed(["port port", "port", "other words"])
    assert rows.shape == (3, 8)
    assert np.array_equal(rows[0], rows[1])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)


def test_many_texts_go_in_batches(server: ModelServer) -> None:
    rows = embedder(server).embed([f"text {number}" for number in range(BATCH + 1)])
    assert [len(each) for each in server.inputs] == [BATCH, 1]
    assert len(rows) == BATCH + 1


def test_no_texts_ask_nobody(server: ModelServer) -> None:
    assert len(embedder(server).embed([])) == 0
    assert server.inputs == []


def test_the_space_is_what_the_first_answer_says(server: ModelServer) -> None:
    made = embedder(server)
    assert made.known() is None
    assert made.space().id == "ollama/words@1/8"
    assert made.known() == made.space()
    made.embed(["a"])
    assert made.space().id == "ollama/words@1/8"
    assert server.inputs == [["ghost"], ["a"]]


def test_another_dimension_than_before_is_refused(server: ModelServer) -> None:
    made = embedder(server)
    made.embed(["a"])
    server.dimensions = 9
    assert refusal(made).message.endswith("expected ollama/words@1/8, found ollama/words@1/9")


def test_another_model_than_before_is_refused(server: ModelServer) -> None:
    made = embedder(server)
    made.embed(["a"])
    server.model = "others"
    assert "found ollama/others@1/8" in refusal(made).message
    assert made.space().id == "ollama/words@1/8"


def test_a_nomic_model_is_told_what_a_text_is_for(server: ModelServer) -> None:
    made = embedder(server, model="nomic-embed-text:v1.5")
    made.embed(["a"])
    made.embed(["b"], query=True)
    assert server.inputs == [["search_document: a"], ["search_query: b"]]


def test_other_models_are_told_nothing(server: ModelServer) -> None:
    embedder(server).embed(["b"], query=True)
    assert server.inputs == [["b"]]


def test_the_key_goes_with_the_request_and_nowhere_else(server: ModelServer) -> None:
    made = embedder(server, OpenAI(), key=KEY)
    made.embed(["a"])
    assert server.up.requests[0].header("authorization") == b"Bearer " + KEY
    server.statuses = [401]
    error = refusal(made)
    assert KEY.decode() not in f"{error.message} {error.hint} {made!r}"


def test_without_a_key_nothing_is_authorised(server: ModelServer) -> None:
    embedder(server, OpenAI()).embed(["a"])
    assert server.up.requests[0].header("authorization") is None


def test_a_key_that_is_missing_is_a_model_that_cannot_be_asked(server: ModelServer) -> None:
    def missing() -> SecretBytes:
        raise NotFoundError("credential from env:X: is not set", code="credential.missing")

    asked = Server(server.up.url, OpenAI(), "words", missing)
    made = RemoteEmbedder(asked, Poster((server.up.authority,), None, 5.0), first_seconds=0.01)
    assert "env:X: is not set" in refusal(made).message
    assert server.inputs == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_background_tries_again(server: ModelServer, status: int) -> None:
    server.statuses = [status, status]
    assert len(embedder(server).embed(["a"])) == 1
    assert len(server.inputs) == 3


def test_the_background_gives_up_after_three_times(server: ModelServer) -> None:
    server.statuses = [500] * 4
    assert "status 500" in refusal(embedder(server)).message
    assert len(server.inputs) == 3


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_text_that_is_refused_is_said_to_be_the_cause(server: ModelServer, status: int) -> None:
    server.statuses = [status]
    assert refusal(embedder(server)).code == REFUSED
    assert len(server.inputs) == 1


@pytest.mark.parametrize("status", [301, 401, 404])
def test_a_server_that_does_not_serve_this_is_not_asked_again(
    server: ModelServer, status: int
) -> None:
    server.statuses = [status]
    assert refusal(embedder(server)).code == "memory.embedder"
    assert len(server.inputs) == 1


def test_a_search_asks_once_and_then_does_without(server: ModelServer) -> None:
    server.statuses = [500]
    made = embedder(server)
    refusal(made, query=True)
    assert "a moment ago" in refusal(made, query=True).message
    assert len(server.inputs) == 1
    assert len(made.embed(["the background goes on"])) == 1


def test_a_search_does_not_wait_for_a_slow_model(server: ModelServer) -> None:
    server.up.route("/api/embed", lambda each: each.pause(30))
    made = embedder(server, seconds=0.3)
    started = time.monotonic()
    refusal(made, query=True)
    assert time.monotonic() - started < 5


def test_nobody_there_is_unavailable() -> None:
    port = free_port()
    poster = Poster((f"localhost:{port}",), None, 5.0)
    made = RemoteEmbedder(
        Server(f"http://localhost:{port}", Ollama(), "m"), poster, first_seconds=0.01
    )
    assert "cannot be asked" in refusal(made).message


@pytest.mark.parametrize("body", [b"", b"not json", b"[]", json.dumps({"model": "m"}).encode()])
def test_an_answer_without_vectors_is_unavailable(server: ModelServer, body: bytes) -> None:
    server.up.route("/api/embed", lambda each: each.reply(200, body))
    error = refusal(embedder(server))
    assert error.code == "memory.embedder"
    assert "expected a model and lists of numbers" in error.message


def test_an_answer_without_end_is_left(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_memory.embedding.remote.MAX_REPLY_BYTES", 100)
    server.up.route("/api/embed", lambda each: each.reply(200, b" " * 101))
    assert "more than 16 MB" in refusal(embedder(server)).message


def test_closing_ends_what_is_under_way(server: ModelServer) -> None:
    server.up.route("/api/embed", lambda each: each.pause(30))
    made = embedder(server, seconds=30.0)
    threading.Timer(0.2, made.close).start()
    started = time.monotonic()
    refusal(made)
    assert time.monotonic() - started < 5
    asked = len(server.up.requests)
    assert "is not asked any more" in refusal(made).message
    assert len(server.up.requests) == asked
