"""The helpers on real `requests` and `httpx`, and on stand-ins of the model libraries around them."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests

from ghost_agents import possess_langchain, possess_openai, possess_requests
from ghost_core.errors import ConfigError, UsageError
from support.certs import make_certs


@dataclass(slots=True)
class Proxy:
    """A listener that answers 204 to one plain request and keeps its head."""

    port: int
    heads: list[str] = field(default_factory=list)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        found = Proxy(listener.getsockname()[1])

        def answer() -> None:
            channel, _ = listener.accept()
            with channel:
                channel.settimeout(5)
                found.heads.append(channel.recv(65536).decode("latin-1"))
                channel.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield found
        with socket.socket() as last:
            last.connect_ex(("127.0.0.1", found.port))
        thread.join(5)


@pytest.fixture
def inside(proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    """The environment of a session whose proxy is our listener, with traps around it."""
    certs = make_certs(tmp_path)
    monkeypatch.setenv("GHOST_SESSION_ID", "gh_1")
    monkeypatch.setenv("HTTPS_PROXY", f"http://gh_1:ghtoken_abc@127.0.0.1:{proxy.port}")
    monkeypatch.setenv("SSL_CERT_FILE", str(certs.ca))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("OPENAI_API_KEY", "sk_ghost_held")
    return proxy


def went_through(proxy: Proxy) -> bool:
    (head,) = proxy.heads
    wanted = base64.b64encode(b"gh_1:ghtoken_abc").decode()
    return head.startswith("GET http://upstream.test/ ") and f"Basic {wanted}" in head


@dataclass(slots=True)
class Model:
    """The shape that the OpenAI and Anthropic clients share."""

    api_key: str
    _client: Any
    timeout: float = 5.0
    chat: Any = None

    def with_options(self, *, api_key: str, http_client: Any) -> Model:
        return Model(api_key, http_client, chat=self)


Model.__module__ = "openai"


def test_a_requests_session_goes_through_whatever_its_environment_says(inside: Proxy) -> None:
    with possess_requests(requests.Session()) as session:
        assert session.get("http://upstream.test/", timeout=5).status_code == 204
        assert not session.trust_env
    assert went_through(inside)


def test_an_openai_client_goes_through_with_the_stand_in_for_its_key(inside: Proxy) -> None:
    with httpx.Client() as original:
        ghost = possess_openai(Model("sk_live_real", original))
    with ghost._client as pool:
        assert type(pool) is httpx.Client
        assert pool.get("http://upstream.test/").status_code == 204
    assert ghost.api_key == "sk_ghost_held"
    assert went_through(inside)


def test_a_library_with_a_pool_class_of_its_own_gets_the_plain_one(inside: Proxy) -> None:
    class Wrapped(httpx.AsyncClient):
        pass

    ghost = possess_openai(Model("sk_live_real", Wrapped()))
    assert type(ghost._client) is httpx.AsyncClient


def test_a_client_of_an_unknown_vendor_holds_a_stand_in_too(inside: Proxy) -> None:
    class Other(Model):
        pass

    with httpx.Client() as original:
        ghost = possess_openai(Other("sk_live_real", original))
    ghost._client.close()
    assert ghost.api_key == "ghost_placeholder"


def test_a_langchain_model_of_openai_goes_through_in_all_its_clients(inside: Proxy) -> None:
    @dataclass(slots=True)
    class Chat:
        root_client: Any
        root_async_client: Any
        client: Any = None
        async_client: Any = None

    class Completions:
        completions = "completions"

    class Root(Model):
        def with_options(self, *, api_key: str, http_client: Any) -> Model:
            return Model(api_key, http_client, chat=Completions)

    Root.__module__ = "openai"
    model = Chat(Root("real", httpx.Client()), Root("real", httpx.AsyncClient()))
    assert possess_langchain(model) is model
    assert (model.client, model.async_client) == ("completions", "completions")
    assert model.root_client.api_key == model.root_async_client.api_key == "sk_ghost_held"
    assert type(model.root_async_client._client) is httpx.AsyncClient


def test_a_langchain_model_of_anthropic_keeps_the_possessed_client(inside: Proxy) -> None:
    class Chat:
        @cached_property
        def _client(self) -> Model:
            return Model("real", httpx.Client())

    model = possess_langchain(Chat())
    assert model._client.api_key == "sk_ghost_held"
    assert model._client is model._client


def test_outside_of_a_session_nothing_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GHOST_SESSION_ID", raising=False)
    with requests.Session() as session, pytest.raises(ConfigError) as caught:
        possess_requests(session)
    assert caught.value.code == "environment.none"
    assert session.trust_env


@pytest.mark.parametrize("helper", [possess_openai, possess_langchain])
def test_another_kind_of_client_is_refused(inside: Proxy, helper: Any) -> None:
    for client in (object(), Model("x", object())):
        with pytest.raises(UsageError) as caught:
            helper(client)
        assert caught.value.code == "agent.client"


def test_the_way_out_is_not_shown() -> None:
    from ghost_agents.environment import reach

    inherited = {
        "GHOST_SESSION_ID": "gh_1",
        "HTTPS_PROXY": "http://gh_1:ghtoken_x@h:1",
        "SSL_CERT_FILE": "/b",
    }
    assert "ghtoken_" not in repr(reach(inherited))
