"""Which embedder the settings give."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import ConfigError
from ghost_core.secret import SecretBytes
from ghost_core.settings import Settings
from ghost_credentials.references import Reference
from ghost_memory.embedding.choosing import embedder_of
from ghost_memory.embedding.embedder import Embedder
from ghost_memory.embedding.static import StaticEmbedder
from support.embedding import ModelServer
from support.upstream import Upstream


def chosen(backend: str, **further: str) -> Embedder | None:
    settings = Settings(memory={"embedding": {"backend": backend, **further}})  # type: ignore[arg-type]
    return embedder_of(settings, secret)


def secret(reference: Reference) -> SecretBytes:
    return SecretBytes(f"of {reference.shown}".encode())


def test_the_table_is_the_default() -> None:
    assert isinstance(embedder_of(Settings(), secret), StaticEmbedder)


def test_none_is_none() -> None:
    assert chosen("none") is None


@pytest.mark.parametrize(("model", "said"), [("", "no model lies in"), ("other", "found 'other'")])
def test_a_model_that_is_not_here_is_a_wrong_setting(
    model: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_HOME", str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        chosen("onnx", model=model)
    assert caught.value.exit_code == 3
    assert caught.value.code == "memory.embedding"
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("backend", "path"), [("ollama", "/api/embed"), ("openai", "/v1/embeddings")]
)
@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_a_server_of_this_machine_is_asked_where_it_says(
    backend: str, path: str, ending: str
) -> None:
    with Upstream() as up:
        server = ModelServer(up, model="m")
        made = chosen(backend, url=up.url + ending, model="m")
        assert made is not None
        assert made.space().id == f"{backend}/m@1/8"
        assert up.requests[0].path == path
        assert server.inputs == [["ghost"]]


def test_only_openai_is_shown_a_key() -> None:
    with Upstream() as up:
        ModelServer(up)
        for backend, key in (("openai", "env:K"), ("openai", ""), ("ollama", "env:K")):
            made = chosen(backend, url=up.url, key=key)
            assert made is not None
            made.embed(["a"])
        shown = [each.header("authorization") for each in up.requests]
        assert shown == [b"Bearer of env:K", None, None]


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example:11434",
        "http://10.0.0.7:11434",
        "ftp://localhost",
        "https://user:pass@models.example",
        "localhost:11434",
        "http://localhost.models.example",
    ],
)
def test_a_server_elsewhere_is_asked_over_tls_only(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        chosen("ollama", url=url)
    assert caught.value.code == "memory.embedding_url"
    assert "pass" not in caught.value.message.replace("expected https", "")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:1", "https://models.example"])
def test_these_places_may_be_asked(url: str) -> None:
    assert chosen("openai", url=url) is not None


def test_a_named_private_place_may_be_asked_in_the_clear() -> None:
    settings = Settings(
        proxy={"allow_private": ["10.0.0.7:11434"]},  # type: ignore[arg-type]
        memory={"embedding": {"backend": "ollama", "url": "http://10.0.0.7:11434"}},  # type: ignore[arg-type]
    )
    assert embedder_of(settings, secret) is not None
