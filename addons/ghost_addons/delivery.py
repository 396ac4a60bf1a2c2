"""From the upstream's first header to the outcome entry: clean, judge, enter, release."""

from __future__ import annotations

import functools
from collections.abc import Callable

from mitmproxy import http

from ghost_addons import (
    grammar,
    holding,
    quarantine,
    record,
    repairs,
    scrub,
    stream,
    trail,
    websocket,
)
from ghost_addons.action import Action
from ghost_addons.admission import keeping_of
from ghost_addons.refusal import Refusal, refusal_of
from ghost_addons.services import Services
from ghost_addons.tunnels import Refused
from ghost_core.errors import FailedError, IntegrityError
from ghost_hooks.gates import beside
from ghost_hooks.request import Reply, Verdict
from ghost_hooks.turns import aside
from ghost_ledger.commitment import Commitment
from ghost_ledger.recorder import Draft, Receipt

SWITCHING_PROTOCOLS = 101
STATUSES = range(100, 600)
"""RFC 9110 §15; the record has no place for others."""
CUT = frozenset({1006, 1009})
"""Close codes of a websocket that broke off: no close frame, a message too big (RFC 6455 §7.4.1)."""


def open_reply(
    services: Services,
    action: Action,
    flow: http.HTTPFlow,
    *,
    on_error: Callable[[Exception], None],
) -> None:
    """Clean the reply's headers and decide whether its body is held or relayed as it comes.

    Raises FailedError `body.coding`, `body.charset`, `reply.status`, `reply.lines` or `reply.upgrade` for a
    reply that may not pass.
    """
    response = flow.response
    assert response is not None
    if response.status_code not in STATUSES:
        raise FailedError("the upstream answered with no status of HTTP", code="reply.status")
    if len(response.headers.fields) > grammar.LINES:
        raise FailedError("the reply has too many headers", code="reply.lines")
    settings = action.governance.settings
    action.http_status = response.status_code
    action.peer = _peer_of(flow)
    action.response = Commitment("response") if action.recorded else None
    if response.status_code == SWITCHING_PROTOCOLS:
        if not action.websocket or not websocket.agreed(flow.request, response):
            raise FailedError("the upstream switched protocols unasked", code="reply.upgrade")
        scrub.clean_headers(action, response, services.secrets.scrubber)
        websocket.begin(action)
        return
    scrub.clean_headers(action, response, services.secrets.scrubber)
    scrub.open_body(
        action,
        response,
        lambda: services.secrets.scrubber,
        mode=settings.proxy.scrub,
        limit=settings.proxy.buffer_limit,
    )
    limit = settings.proxy.buffer_limit

    def begin() -> None:
        _begin_stream(action, flow, response, on_error=on_error)

    if stream.holds_reply(
        action.request.method, response, needs_reply=needs_reply(action), limit=limit
    ):
        if stream.declared_length(response) is None:
            holding.hold_reply(flow, holding.Spill(limit, begin))
    else:
        begin()


def _begin_stream(
    action: Action,
    flow: http.HTTPFlow,
    response: http.Response,
    *,
    on_error: Callable[[Exception], None],
) -> None:
    """Relay the reply from here on as it comes."""
    stream.unframe(flow.request, response)
    scrub.commit_head(action, response)
    action.streamed_reply = True
    response.stream = scrub.streaming(action, excerpt=_excerpt(action), on_error=on_error)


def needs_reply(action: Action) -> bool:
    """Tell whether a gate must see the whole reply."""
    return action.decision.needs_reply or bool(action.ticket and action.ticket.extra_post)


def _peer_of(flow: http.HTTPFlow) -> str:
    name = flow.server_conn.peername
    if name is None:
        return ""
    return f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"


def _excerpt(action: Action) -> int:
    """Return how many bytes of the reply's body are kept for the record, or handed to `act`."""
    keeping = keeping_of(action)
    return keeping.limit if action.recorded and keeping.policy == "full" else 0


async def finish_reply(services: Services, action: Action, flow: http.HTTPFlow) -> None:
    """Finish a reply and make its outcome durable; raises Refused where it is withheld."""
    response = flow.response
    assert response is not None
    scrub.clean_trailers(
        action, response, services.secrets.scrubber, version=flow.request.http_version
    )
    if response.status_code == SWITCHING_PROTOCOLS or action.settled:
        return
    if not action.streamed_reply:
        await _clean_held(action, response)
    post, refusal = await _judged(services, action, response)
    withheld = None if action.streamed_reply else refusal
    whole = await settle(
        services,
        action,
        status="failed" if withheld else "executed",
        ended="complete",
        post=post,
        error=refusal.code if refusal else "",
    )
    if withheld is not None:
        raise Refused(withheld)
    if not whole:
        raise FailedError("the reply is of a kind that no entry can hold", code="reply.record")


async def _clean_held(action: Action, response: http.Response) -> None:
    """Clean a held body; a large one beside the loop, also one of few bytes that becomes large."""
    work = functools.partial(scrub.buffered, action, response, excerpt=_excerpt(action))
    raw = response.raw_content or b""
    if action.scrub is not None and action.scrub.expands(raw):
        await aside(work)
    else:
        await beside(raw, work)


async def _judged(
    services: Services, action: Action, response: http.Response
) -> tuple[tuple[Verdict, ...], Refusal | None]:
    """Take a reply through its gates; the refusal is theirs, or for a held one that of a stopped session."""
    post = await _gates(action, response)
    denial = next((verdict for verdict in post if not verdict.allow), None)
    refusal = refusal_of(denial) if denial else None
    if refusal is None and not action.streamed_reply:
        refusal = quarantine.refusal(action.session)
    if refusal is not None:
        action.flags.append("flagged" if action.streamed_reply else "withheld")
    await quarantine.consider(services, action, post)
    return post, refusal


async def _gone(services: Services, action: Action, flow: http.HTTPFlow) -> tuple[Verdict, ...]:
    """Judge what went by, however it ended: an agent that leaves early has read it all the same."""
    response = flow.response
    if response is None or not action.streamed_reply or action.settled or action.session.ending:
        return ()
    post, _ = await _judged(services, action, response)
    return post


async def _gates(action: Action, response: http.Response) -> tuple[Verdict, ...]:
    if not needs_reply(action):
        return ()
    body = None if action.streamed_reply else response.raw_content or b""
    return await action.governance.policy.after(
        action.decision,
        action.request,
        Reply(response.status_code, tuple(response.headers.fields), body),
        session=action.session.document(),
        action_id=action.id,
        extra_hooks=action.ticket.extra_post if action.ticket else (),
    )


async def settle(
    services: Services,
    action: Action,
    *,
    status: str,
    ended: str,
    post: tuple[Verdict, ...] = (),
    error: str = "",
) -> bool:
    """Make the outcome durable, once; a failure leaves the call open for the next attempt.

    False where only that the call failed could be entered, since the rest has no place in an entry: an open
    call would keep its session from being sealed.
    """
    if action.settled:
        return True
    action.settled, whole = True, True
    session = action.session
    if action.recorded:
        draft = record.outcome(
            action, status=status, ended=ended, keeping=keeping_of(action), post=post, error=error
        )
        try:
            receipt, whole = await _entered(services, draft)
        except BaseException:
            action.settled = False
            raise
        if action.ticket is not None:
            action.ticket.settled(status, error, receipt)
    else:
        session.tally.add(
            action.tool, action.name, status, sent=action.sent, received=action.received
        )
    session.calls.pop(action.id, None)
    trail.told(
        "action.settled",
        sid=session.sid,
        action_id=action.id,
        tool=action.tool,
        action=action.name,
        status=status,
        http_status=action.http_status,
        ms=action.latency_us // 1000,
        error=error,
    )
    return whole


async def _entered(services: Services, draft: Draft) -> tuple[Receipt, bool]:
    try:
        (receipt,) = await services.recorder.enter(draft)
    except IntegrityError as error:
        if error.code != "ledger.grammar":
            raise
        (receipt,) = await services.recorder.enter(record.bare(draft, error=error.code))
        return receipt, False
    return receipt, True


async def settle_failed(services: Services, action: Action, flow: http.HTTPFlow) -> None:
    """Enter a call that ended in an error: nothing came, or the stream was cut."""
    began = action.http_status != 0
    post = await _gone(services, action, flow)
    await settle(
        services,
        action,
        status="executed" if began else "failed",
        ended="aborted",
        post=post,
        error=action.error or _error_code(action, flow, began=began),
    )


def _error_code(action: Action, flow: http.HTTPFlow, *, began: bool) -> str:
    """Return a short public code for the engine's message, which may name addresses."""
    if action.session.ending:
        return "session.ended"  # we cut it; the upstream may have been reached
    if began:
        return "aborted"
    message = str(flow.error).lower() if flow.error else ""
    if "certificate" in message or "tls" in message or "ssl" in message:
        return "upstream.tls"
    if "client" in message or "killed" in message:
        return "client.gone"
    return "upstream.unreachable" if flow.response is None else "upstream.broken"


async def settle_websocket(services: Services, action: Action, flow: http.HTTPFlow) -> None:
    """Enter a websocket when it has closed; whether it was cut, its close code says."""
    post = await _gone(services, action, flow)
    cut = flow.websocket is None or flow.websocket.close_code in CUT
    ended = "aborted" if cut or action.error or action.session.ending else "complete"
    await settle(services, action, status="executed", ended=ended, post=post, error=action.error)


async def settle_refused(services: Services, action: Action, refusal: Refusal) -> None:
    """Enter a call that a handler failed on: its reply is withheld, or it was never sent."""
    if action.admitted:
        action.flags.append("withheld")
    else:
        action.sent = 0  # its intent is entered, but nothing went out
    await settle(services, action, status="failed", ended="aborted", error=refusal.code)


def answer(
    flow: http.HTTPFlow,
    refusal: Refusal,
    *,
    sid: str,
    action_id: str,
    close: Callable[[str], None],
) -> None:
    """Put the refusal in the place of the answer; where that is too late, close the connection.

    A flow in error is answered by the engine itself, with our page.
    """
    if flow.error is not None:
        return
    began = flow.response is not None and bool(flow.response.stream)
    if began or flow.websocket is not None:
        close(flow.client_conn.id)
        return
    body = refusal.body(session_id=sid, action_id=action_id)
    flow.response = http.Response.make(refusal.status, body, http.Headers(refusal.headers()))
    if repairs.asks_first(flow.request):
        flow.request.headers.pop("expect")  # else the engine asks for the body all the same
        flow.response.headers["connection"] = "close"
    flow.metadata[WITHHELD] = body
    flow.request.stream = False


WITHHELD = "ghost.withheld"
"""The body that must stand at the end: the engine puts the upstream's bytes over it."""


def reapply(flow: http.HTTPFlow) -> None:
    """Put a withheld reply's own body back, after the engine collected the upstream's."""
    body = flow.metadata.get(WITHHELD)
    if isinstance(body, bytes) and flow.response is not None:
        flow.response.raw_content = body
        flow.response.trailers = None
