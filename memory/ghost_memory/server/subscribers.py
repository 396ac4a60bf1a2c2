"""Clients of the handshake era that asked to hear of a resource; those of 2026-07-28 listen on a stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from mcp.server.session import ServerSession

from ghost_memory.server.catalogue.resources import SCHEME

__all__ = ["Subscribers"]

MOST: Final = 1024
"""How many clients, and how many addresses of each; beyond it the oldest are forgotten."""


@dataclass(slots=True)
class _Client:
    """One client: a session to tell it through, what identifies its connection, and what it asked for."""

    session: ServerSession
    known_by: object
    uris: dict[str, None] = field(default_factory=dict)


class Subscribers:
    """Who wants to hear of which address."""

    def __init__(self) -> None:
        self._clients: dict[int, _Client] = {}

    def add(self, session: ServerSession, uri: str) -> bool:
        """Note a wish; False for an address that is none of ours."""
        if not uri.startswith(SCHEME):
            return False
        # A session object lives for one request; what the client said at its handshake lives on.
        known_by = session.client_params
        client = self._clients.setdefault(id(known_by), _Client(session, known_by))
        client.uris[uri] = None
        _forget(client.uris)
        _forget(self._clients)
        return True

    def remove(self, session: ServerSession, uri: str) -> None:
        """Forget a wish."""
        client = self._clients.get(id(session.client_params))
        if client is not None:
            client.uris.pop(uri, None)

    def __bool__(self) -> bool:
        """Tell whether anybody wants to hear of anything."""
        return any(client.uris for client in self._clients.values())

    async def tell(self, stale: Iterable[str]) -> None:
        """Tell every client of each address that it asked for, spelled as it did."""
        changed = {unquote(uri) for uri in stale}
        for client in list(self._clients.values()):
            for uri in list(client.uris):
                if unquote(uri) in changed:
                    await client.session.send_resource_updated(uri)


def _forget[K, V](held: dict[K, V]) -> None:
    while len(held) > MOST:
        held.pop(next(iter(held)))
