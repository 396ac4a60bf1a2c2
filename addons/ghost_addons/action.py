"""One mediated call from its first header to its outcome entry."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ghost_core import ids
from ghost_credentials.binding import Credential
from ghost_credentials.reply import ReplyScrubber
from ghost_credentials.scrub import Scrubber
from ghost_hooks.decision import Decision
from ghost_hooks.request import Request, Verdict
from ghost_ledger.commitment import Commitment
from ghost_ledger.recorder import Receipt

if TYPE_CHECKING:
    from ghost_addons.governance import Governance
    from ghost_addons.session import LiveSession
    from ghost_addons.ticket import Ticket

MUTATIONS_EXEMPT = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class Action:
    """The state of one call; `intent` is set once its entry is durable, `settled` once it has an outcome.

    `entering` is that entry on its way, which goes on where nobody waits for it any more.
    `bound` is the credential to inject, `error` the code of what cut a call whose bytes were passing, `own`
    takes the call's own token out of a websocket.
    """

    session: LiveSession
    governance: Governance
    decision: Decision
    request: Request
    client: str = ""
    ticket: Ticket | None = None
    id: str = field(default_factory=ids.action_id)
    verdicts: tuple[Verdict, ...] = ()
    intent: Receipt | None = None
    entering: asyncio.Future[tuple[Receipt, ...]] | None = None
    settled: bool = False
    recorded: bool = True
    admitted: bool = False
    credential: str = ""
    bound: Credential | None = None
    body_mode: str = "none"
    sent: int = 0
    received: int = 0
    scrubbed: int = 0
    started_ns: int = field(default_factory=time.monotonic_ns)
    wire_token: bytes = b""
    request_body: Commitment | None = None
    response: Commitment | None = None
    response_head: bytes = b""
    response_excerpt: bytearray = field(default_factory=bytearray)
    scrub: ReplyScrubber | None = None
    streamed_reply: bool = False
    http_status: int = 0
    peer: str = ""
    websocket: bool = False
    frames_in: int = 0
    frames_out: int = 0
    frames_end: bytes = b""
    own: Scrubber | None = None
    flags: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def tool(self) -> str:
        """The name in the record: the tool, for a raw scope the host."""
        return self.decision.tool or self.request.target.host

    @property
    def name(self) -> str:
        """The name of the action in the record, for a raw scope the method."""
        return self.decision.action or self.request.method

    @property
    def flows(self) -> bool:
        """Tell whether bytes pass while they come: such a call is cut at the session's end."""
        return self.streamed_reply or self.websocket or self.body_mode == "streamed"

    @property
    def latency_us(self) -> int:
        """Microseconds since the request's headers arrived."""
        return (time.monotonic_ns() - self.started_ns) // 1000


def is_mutation(method: str) -> bool:
    """Tell whether a method may change something upstream (RFC 9110 §9.2.1, less TRACE)."""
    return method not in MUTATIONS_EXEMPT
