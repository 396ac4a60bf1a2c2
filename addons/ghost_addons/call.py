"""Making one prepared call through our own proxy, as any client would."""

from __future__ import annotations

import base64
import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ghost_core.errors import FailedError

CALL_SECONDS = 120.0
MAX_REPLY_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: status, headers (lower-case names), body as it was."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Door:
    """How to enter the proxy: its port, who we are, and the certificate to trust."""

    port: int
    user: str
    password: str
    certificate: Path


def make(
    door: Door,
    method: str,
    url: str,
    *,
    headers: tuple[tuple[bytes, bytes], ...] = (),
    body: bytes = b"",
    timeout_seconds: float = CALL_SECONDS,
) -> Answer:
    """Make the call and return the whole answer; raises FailedError where there is none."""
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = _connection(door, parts.scheme, timeout_seconds)
    named = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    proxy = {"Proxy-Authorization": _basic(door)}
    try:
        if parts.scheme == "https":
            connection.set_tunnel(parts.hostname or "", parts.port or 443, headers=proxy)
            connection.request(method, path, body=body or None, headers=named)
        else:
            connection.request(method, url, body=body or None, headers=named | proxy)
        answer = connection.getresponse()
        data = answer.read(MAX_REPLY_BYTES + 1)
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, data)
    except (OSError, http.client.HTTPException) as error:
        raise FailedError(f"{method} {parts.hostname}: no answer", code="call.failed") from error
    finally:
        connection.close()


def _connection(door: Door, scheme: str, timeout_seconds: float) -> http.client.HTTPConnection:
    if scheme == "https":
        context = ssl.create_default_context(cafile=str(door.certificate))
        return http.client.HTTPSConnection(
            "127.0.0.1", door.port, timeout=timeout_seconds, context=context
        )
    return http.client.HTTPConnection("127.0.0.1", door.port, timeout=timeout_seconds)


def _basic(door: Door) -> str:
    return "Basic " + base64.b64encode(f"{door.user}:{door.password}".encode()).decode("ascii")
