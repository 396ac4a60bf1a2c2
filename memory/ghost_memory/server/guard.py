"""Lets only this machine's own programs through to the server on loopback, never a page of a browser.

A name of somebody else's can be made to point at 127.0.0.1 while a page of it runs (DNS rebinding); the
browser then still sends that name as Host, and the page's own address as Origin. So both must be spelled as
one of our own addresses, with the port that really listens: once, whole, and nothing near it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

__all__ = ["Guard"]

NAMES: Final = ("127.0.0.1", "localhost")
WEB_PORT: Final = 80
"""The port that clients leave out."""

type Scope = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Scope]]
type Send = Callable[[Scope], Awaitable[None]]
type App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """An application before another: what it refuses, the other never sees."""

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        hosts = {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == WEB_PORT else set())
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{host}" for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what starts and ends the server, and requests that are meant for it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        status, why = self._judged(scope)
        if status:
            await _refuse(send, status, why)
        else:
            await self._app(scope, receive, send)

    def _judged(self, scope: Scope) -> tuple[int, str]:
        """Return the status and the reason of a refusal; 0 lets the request through."""
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or len(origins) > 1:
            return 400, "expected one Host and at most one Origin"
        if hosts[0] not in self._hosts:
            return 421, "Host is not the address of this server"
        if origins and origins[0] not in self._origins:
            return 403, "Origin is not the address of this server"
        return 0, ""


def _values(scope: Scope, name: bytes) -> list[str]:
    """Return every value of a header, in small letters: names of hosts have no case."""
    return [value.decode("latin-1").lower() for each, value in scope["headers"] if each == name]


async def _refuse(send: Send, status: int, why: str) -> None:
    text = f"ghost: {why}\n".encode()
    headers = [
        (b"content-type", b"text/plain"),
        (b"content-length", str(len(text)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
