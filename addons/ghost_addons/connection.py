"""What is known of one client connection: who it is, where its tunnel leads, what may be dialled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ghost_addons.refusal import Refusal

if TYPE_CHECKING:
    from ghost_addons.session import LiveSession
    from ghost_addons.ticket import Ticket


@dataclass(slots=True)
class Tunnel:
    """Where one client may go: its session, the canonical authority, and the address it is pinned to.

    `refusal` is set when everything inside is to be refused; then there is no address to dial.
    """

    session: LiveSession
    scheme: str
    host: str
    port: int
    address: str = ""
    ticket: Ticket | None = None
    refusal: Refusal | None = None


@dataclass(slots=True)
class Peer:
    """One client connection: its tunnel, and its admitted calls."""

    tunnel: Tunnel | None = None
    admitted: set[str] = field(default_factory=set)
