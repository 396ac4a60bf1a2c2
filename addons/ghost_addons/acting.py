"""`ghost act`: one declared call, prepared by the catalogue, sent through our proxy, retried where safe."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ghost_addons import call
from ghost_addons.services import Services
from ghost_addons.session import LiveSession
from ghost_addons.ticket import Ticket
from ghost_core import ids
from ghost_core.clock import rfc3339
from ghost_core.errors import FailedError, UsageError
from ghost_core.retry import retrying
from ghost_hooks.gates import ExtraHook
from ghost_hooks.tools import Prepared
from ghost_hooks.webhook import is_url

LARGE_REPLY_BYTES = 1_000_000
_RETRY_STATUS = frozenset({429, 502, 503, 504})
_LONGEST_WAIT_SECONDS = 30.0
# Threads of their own: a call that waits for its upstream must not take those that it needs on its way.
_CALLING = ThreadPoolExecutor(32, thread_name_prefix="ghost-act")

type Message = dict[str, object]


@dataclass(frozen=True, slots=True)
class Doorway:
    """Where the owner's own proxy is entered, less the ticket."""

    port: int
    sid: str
    certificate: Path

    def with_ticket(self, ticket: Ticket) -> call.Door:
        """Return the way in for one call."""
        return call.Door(self.port, self.sid, ticket.password, self.certificate)


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt: its ticket, and the answer if one came."""

    ticket: Ticket
    answer: call.Answer | None


async def act(
    services: Services, session: LiveSession, request: Message, doorway: Doorway
) -> Message:
    """Run the call that the request declares; returns act's document, whatever became of it.

    Raises UsageError for an unknown tool or action, missing or odd parameters.
    """
    tool, action = str(request.get("tool", "")), str(request.get("action", ""))
    params = request.get("params") or {}
    if not isinstance(params, dict):
        raise UsageError("params: expected a JSON object", code="act.params")
    governance = services.governor.in_force(session.scopes)
    prepared = governance.policy.catalogue.prepare(tool, action, params)
    attempts = _count(request.get("attempts"), default=3)
    operation = ids.action_id()
    numbers = iter(range(1, attempts + 1))

    def attempt() -> _Try:
        ticket = Ticket(
            tool,
            action,
            extra_pre=_hooks(request.get("validate_pre")),
            extra_post=_hooks(request.get("validate_post")),
            operation=operation if attempts > 1 else "",
            attempt=next(numbers),
        )
        with _admitted(services, ticket):
            return _Try(ticket, _made(prepared, doorway.with_ticket(ticket)))

    repeatable = attempts if prepared.repeatable else 1
    work = functools.partial(
        retrying,
        attempt,
        attempts=repeatable,
        when=lambda made: _worth_repeating(made) and _in_time(services, session, made),
        wait=_retry_after,
    )
    last = await asyncio.get_running_loop().run_in_executor(_CALLING, work)
    return _document(last, tool, action)


@contextlib.contextmanager
def _admitted(services: Services, ticket: Ticket) -> Iterator[None]:
    services.sessions.issue_ticket(ticket)
    try:
        yield
    finally:
        services.sessions.withdraw_ticket(ticket)


def _made(prepared: Prepared, door: call.Door) -> call.Answer | None:
    try:
        return call.make(
            door, prepared.method, prepared.url, headers=prepared.headers, body=prepared.body
        )
    except FailedError:
        return None


def _worth_repeating(made: _Try) -> bool:
    if made.ticket.status in ("denied", ""):
        return False
    return made.answer is None or made.answer.status in _RETRY_STATUS


def _in_time(services: Services, session: LiveSession, made: _Try) -> bool:
    """Tell whether the session still lives when the wait that the upstream asks for is over."""
    left_us = session.expires_at_us - services.clock.now_us()
    return session.alive() and (_retry_after(made) or 0) * 1_000_000 < left_us


def _retry_after(made: _Try) -> float | None:
    """Return the seconds that the upstream asks for (RFC 9110 §10.2.3), whole seconds only."""
    text = made.answer.headers.get("retry-after", "") if made.answer else ""
    return min(float(text), _LONGEST_WAIT_SECONDS) if text.isascii() and text.isdigit() else None


def _document(made: _Try, tool: str, action: str) -> Message:
    ticket = made.ticket
    status = ticket.status or "unknown"
    ours = made.answer is not None and "x-ghost-reason" in made.answer.headers
    document: Message = {
        "action_id": ticket.action_id,
        "tool": tool,
        "action": action,
        "status": status,
        "response": None if made.answer is None or ours else _response(made.answer),
        "residue_hash": ticket.residue_hash,
        "timestamp": rfc3339(ticket.ts) if ticket.ts else "",
        "attempts": ticket.attempt,
    }
    if made.answer is not None:
        document["http_status"] = made.answer.status
    if ticket.error:
        document["error"] = {"code": ticket.error, "message": ticket.reason, "hint": ticket.hint}
    if ours and made.answer is not None:
        document["error"] = _refusal(made.answer) or document.get("error")
    return document


def _refusal(answer: call.Answer) -> object:
    try:
        return json.loads(answer.body)["error"]
    except (ValueError, KeyError, TypeError):
        return None


def _response(answer: call.Answer) -> object:
    if len(answer.body) > LARGE_REPLY_BYTES:
        return {"truncated": True, "bytes": len(answer.body)}
    if not answer.body:
        return None
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        pass
    try:
        return {"text": answer.body.decode()}
    except UnicodeDecodeError:
        kind = answer.headers.get("content-type", "")
        return {"base64": base64.b64encode(answer.body).decode("ascii"), "content_type": kind}


def _hooks(value: object) -> tuple[ExtraHook, ...]:
    """Read `[[path or URL, sha256], …]` as the control request carries it."""
    if not isinstance(value, list):
        return ()
    return tuple((_place(str(place)), str(digest)) for place, digest in value)


def _place(text: str) -> Path | str:
    return text if is_url(text) else Path(text)


def _count(value: object, *, default: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int) or not 1 <= value <= 10:
        raise UsageError(f"attempts: expected 1 to 10, found {value!r}", code="act.attempts")
    return value


def status_of(document: Mapping[str, object]) -> int:
    """Return the exit code of act's document: executed 0, denied 5, failed and unknown 1."""
    return {"executed": 0, "denied": 5}.get(str(document.get("status")), 1)
