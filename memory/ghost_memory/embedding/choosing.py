"""Which embedder the settings ask for."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Final, assert_never

from ghost_core.errors import ConfigError, DeniedError
from ghost_core.secret import SecretBytes
from ghost_core.settings import Settings
from ghost_credentials.references import Reference
from ghost_hooks.host import is_address
from ghost_hooks.posting import Poster
from ghost_hooks.target import Target
from ghost_memory.embedding import onnx
from ghost_memory.embedding.embedder import Embedder
from ghost_memory.embedding.remote import RemoteEmbedder, Server
from ghost_memory.embedding.served import Dialect, Ollama, OpenAI
from ghost_memory.embedding.static import StaticEmbedder
from ghost_memory.limits import shown

TIMEOUT_SECONDS: Final = 30.0

type Resolve = Callable[[Reference], SecretBytes]


def embedder_of(settings: Settings, resolve: Resolve) -> Embedder | None:
    """Return the embedder that is configured, None for `none`; nothing is loaded or asked yet.

    `resolve` finds the key of a server, anew for each request. Raises ConfigError
    `memory.embedding` for a model that is not there, `memory.embedding_url` for a server that may not be
    asked.
    """
    backend = settings.memory.embedding.backend
    match backend:
        case "none":
            return None
        case "static":
            return StaticEmbedder()
        case "ollama":
            model = "nomic-embed-text:v1.5"
            return _remote(settings, Ollama(), "http://127.0.0.1:11434", model, None)
        case "openai":
            url, model = "https://api.openai.com", "text-embedding-3-small"
            return _remote(settings, OpenAI(), url, model, _key(settings, resolve))
        case "onnx":
            return _onnx(settings.memory.embedding.model)
        case _:
            assert_never(backend)


def _onnx(named: str) -> Embedder:
    if named not in {"", onnx.MODEL}:
        raise ConfigError(
            f"memory.embedding.model: expected nothing or {onnx.MODEL!r}, found {shown(named)}",
            code="memory.embedding",
            hint='a model of another kind needs backend = "ollama" or "openai"',
        )
    return onnx.OnnxEmbedder(onnx.folder())


def _remote(
    settings: Settings,
    dialect: Dialect,
    url: str,
    model: str,
    key: Callable[[], SecretBytes] | None,
) -> Embedder:
    chosen = settings.memory.embedding
    base = (chosen.url or url).rstrip("/").removesuffix("/v1")
    return RemoteEmbedder(
        Server(base, dialect, chosen.model or model, key), _poster(settings, base)
    )


def _poster(settings: Settings, url: str) -> Poster:
    """Return how the server is reached; one of this machine is allowed by being named."""
    try:
        target = Target.parse(url)
        named = (_place(target),) if _is_ours(target.host) else ()
        allowed = (*settings.proxy.allow_private, *named)
        poster = Poster(allowed, settings.proxy.upstream_ca, TIMEOUT_SECONDS)
        poster.require_reachable(url)
    except DeniedError as error:
        raise ConfigError(
            "memory.embedding.url: expected https, or http to this machine or to a place that"
            f" proxy.allow_private names; {error.message}",
            code="memory.embedding_url",
        ) from error
    return poster


def _place(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return f"{host}:{target.port}"


def _is_ours(host: str) -> bool:
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def _key(settings: Settings, resolve: Resolve) -> Callable[[], SecretBytes] | None:
    place = settings.memory.embedding.key
    if not place:
        return None
    reference = Reference.parse(place, credential="memory.embedding.key")
    return lambda: resolve(reference)
