"""Admitting one judged call: alive, verdicts, credential, intent durable, and only then the secret.

The order is the product: whatever fails before the end of `admit` leaves nothing on the wire.
"""

from __future__ import annotations

import asyncio
import functools
from dataclasses import replace

from mitmproxy import http

from ghost_addons import encoding, holding, inject, leak, quarantine, record, stream
from ghost_addons.action import Action, is_mutation
from ghost_addons.record import Attempt, Keeping
from ghost_addons.refusal import refusal_of, unauthenticated
from ghost_addons.services import Services
from ghost_addons.tunnels import Refused
from ghost_core.errors import DeniedError, GhostError
from ghost_core.secret import SecretBytes
from ghost_credentials.binding import Credential
from ghost_credentials.head import Head
from ghost_hooks.gates import beside
from ghost_hooks.limits import Spent
from ghost_hooks.request import Request, Verdict
from ghost_hooks.turns import aside
from ghost_ledger import wiretoken
from ghost_ledger.commitment import Commitment


def holds_body(action: Action, flow: http.HTTPFlow) -> bool:
    """Choose the credential, and tell whether the body is held before admission.

    Raises Refused where it cannot be, or where no one credential is meant.
    """
    action.bound = _credential(action)
    limit = action.governance.settings.proxy.buffer_limit
    request = flow.request
    needs_body = _reads_body(action, request)
    try:
        held = stream.holds_request(request, needs_body=needs_body, limit=limit)
        if not held and _may_be_form(request):
            encoding.require_none(request)
    except DeniedError as error:
        raise Refused(refusal_of(error), attempt_of(action)) from error
    if needs_body:
        holding.hold_request(flow, limit=limit)
    action.body_mode = "buffered" if held else "streamed"
    return held


def _reads_body(action: Action, request: http.Request) -> bool:
    """Tell whether a gate or a credential reads the body.

    A form can name another method than the one that was judged, so it never passes unseen.
    """
    fills = action.bound is not None and action.bound.fills_body
    return action.decision.needs_body or stream.is_form(request) or fills


def _may_be_form(request: http.Request) -> bool:
    """Tell whether some server takes the body for a form, in which it looks for the method."""
    return stream.is_form(request) or stream.may_name_method(request) is not None


async def admit(
    services: Services, action: Action, request: http.Request, *, body: bytes | None
) -> None:
    """Take a judged call through its gates and make its intent durable; then inject.

    `body` is None for a streamed one. Raises Refused; the request is untouched until the last step.
    """
    _require_alive(action)
    if body is not None:
        action.sent = len(body)
        action.body_mode = "buffered" if body else "none"
    account = action.session.account
    credential = action.bound
    known = services.secrets.scrubber
    try:
        body = await _plain(action, request, body)
        shown = await _judged(services, action, request, body)
        await _gates(services, action, request)
        secret = await _resolve(services, action, credential) if credential else None
        if services.secrets.scrubber is not known:  # a secret is used for the first time
            shown = services.secrets.scrubber.clean(shown).data
        head = inject.head_of(request, path=action.request.target.path_and_query)
        action.wire_token = _wire_token(action)
        base = inject.stripped(head, credential, websocket=action.websocket)
        masked = await beside(body, lambda: _masked(action, base, body))
        await _refuse_leak(services, action, head, base, masked, suspect=shown != (body or b""))
        _require_alive(action)
    except BaseException:
        account.give_back(action.id)
        raise
    await _intend(services, action, head, masked, body=shown)
    fill = functools.partial(
        inject.outgoing, credential=credential, secret=secret, wire_token=action.wire_token
    )
    leaving = await beside(body, lambda: fill(base, body))
    _require_alive(action)
    inject.put(request, leaving)
    action.admitted = True


def _masked(action: Action, base: Head, body: bytes | None) -> inject.Outgoing:
    """Return what would leave, with marks in the place of what the agent must not hold."""
    credential = action.bound
    try:
        return inject.outgoing(
            base,
            body,
            credential=credential,
            secret=inject.mark(credential) if credential else None,
            wire_token=b"[ghost token]" if action.wire_token else b"",
        )
    except GhostError as error:
        raise Refused(refusal_of(error), attempt_of(action)) from error


async def _refuse_leak(
    services: Services,
    action: Action,
    head: Head,
    base: Head,
    masked: inject.Outgoing,
    *,
    suspect: bool,
) -> None:
    """Refuse what may not leave; a body that is large or can expand is looked into beside the loop."""
    look = functools.partial(
        leak.refuse_held,
        services.secrets,
        action,
        agent=head,
        base=base,
        leaving=masked,
        suspect=suspect,
    )
    coded = masked.body and head.get("content-encoding") is not None
    refusal = await (aside(look) if coded else beside(masked.body, look))
    if refusal is not None:
        raise Refused(refusal, attempt_of(action))


async def _judged(
    services: Services, action: Action, request: http.Request, body: bytes | None
) -> bytes:
    """Make the request as gates see it, and return the body as gates and record may hold it.

    What leaves this process for a hook is scrubbed first.
    """
    clean = services.secrets.scrubber.clean
    headers = action.request.headers
    if action.decision.needs_body or action.ticket is not None:
        headers = _clean(services, request)
    shown = (await beside(body, lambda: clean(body)[0])) if body else body
    action.request = Request(action.request.method, action.request.target, headers, shown)
    return shown or b""


async def _plain(action: Action, request: http.Request, body: bytes | None) -> bytes | None:
    """Return the body that is judged and sent: one that a gate looks into without its coding."""
    looked_into = _reads_body(action, request) or _may_be_form(request)
    if not (body and looked_into and encoding.is_encoded(request)):
        return body
    limit = action.governance.settings.proxy.buffer_limit
    try:
        decoded = await encoding.decoded(request, body, limit=limit)
    except DeniedError as error:
        raise Refused(refusal_of(error), attempt_of(action)) from error
    encoding.replace(request, decoded)
    action.sent = len(decoded)
    return decoded


def _require_alive(action: Action) -> None:
    """Refuse a call whose session ended, or was put in quarantine, while it was judged."""
    if not action.session.alive():
        refusal = unauthenticated("the session has ended", code="session.ended")
        raise Refused(refusal, attempt_of(action))
    stopped = quarantine.refusal(action.session)
    if stopped is not None:
        raise Refused(stopped, attempt_of(action))


async def _gates(services: Services, action: Action, request: http.Request) -> None:
    """Run rules, schemas and pre-hooks; the first denial refuses."""
    verdicts = await action.governance.policy.before(
        action.decision,
        action.request,
        session=action.session.document(),
        action_id=action.id,
        extra_hooks=action.ticket.extra_pre if action.ticket else (),
        account=action.session.account,
    )
    action.verdicts += verdicts
    await quarantine.consider(services, action, verdicts)
    require(services, action, request, verdicts)


def require(
    services: Services, action: Action, request: http.Request, verdicts: tuple[Verdict, ...]
) -> None:
    """Raise Refused with the first denial among the verdicts, if there is one."""
    denial = next((verdict for verdict in verdicts if not verdict.allow), None)
    if denial is None:
        return
    head = Head(request.method, action.request.target.path_and_query, _clean(services, request))
    agent = inject.head_of(request, path=action.request.target.path_and_query)
    refusal = leak.refuse_elsewhere(services.secrets, action, agent) or refusal_of(denial)
    if action.decision.hint and not refusal.hint:
        refusal = replace(refusal, hint=action.decision.hint)
    raise Refused(
        refusal,
        attempt_of(action, agent_head=record.head_text(head, services.secrets.scrubber)),
    )


def _credential(action: Action) -> Credential | None:
    target = action.request.target
    named = action.decision.credential
    if named is None and not action.decision.raw:
        return None
    try:
        return action.governance.credentials.for_target(
            named, target.scheme, target.host, target.port, target.path
        )
    except GhostError as error:
        raise Refused(refusal_of(error), attempt_of(action)) from error


async def _resolve(services: Services, action: Action, credential: Credential) -> SecretBytes:
    """Resolve before the intent, so that a missing secret is a denial and not a failed call."""
    action.credential = credential.name
    action.session.used.add(credential.name)
    try:
        return await services.secrets.resolved(credential)
    except GhostError as error:
        raise Refused(refusal_of(error), attempt_of(action)) from error


def _wire_token(action: Action) -> bytes:
    if not action.decision.ghost_token:
        return b""
    return wiretoken.issue(
        action.session.custody.wire_key,
        sid=action.session.sid,
        action_id=action.id,
        host=action.request.target.host,
        expires_at_s=action.session.expires_at_us // 1_000_000,
    ).encode()


async def _intend(
    services: Services, action: Action, head: Head, masked: inject.Outgoing, *, body: bytes
) -> None:
    """Write the intent and wait until it is durable; an allowed read that nobody judged has none."""
    settings = action.governance.settings
    account = action.session.account
    action.recorded = (
        is_mutation(action.request.method)
        or settings.proxy.record == "all"
        or action.websocket
        or action.body_mode == "streamed"
        or action.decision.needs_body
        or action.decision.needs_reply
        or action.ticket is not None
    )
    action.session.calls[action.id] = action
    if not action.recorded:
        return
    if action.body_mode == "streamed":
        action.request_body = Commitment("request_body")
    scrubber = services.secrets.scrubber
    fills = action.bound is not None and action.bound.fills_body
    draft = record.intent(
        action,
        agent_head=record.head_text(_shown(head), scrubber),
        forwarded_head=record.head_text(masked.head, scrubber),
        forwarded_body=scrubber.clean(masked.body or b"").data if fills else b"",
        body=body,
        keeping=keeping_of(action),
        spent=account.taken(action.id),
    )
    try:
        action.entering = services.recorder.enter(draft)
        (action.intent,) = await asyncio.shield(action.entering)
    except GhostError as error:
        action.session.calls.pop(action.id, None)
        account.give_back(action.id)  # the ledger says that nothing was entered
        raise Refused(refusal_of(error), attempt_of(action)) from error
    _count(action, size=len(body))


def _count(action: Action, *, size: int) -> None:
    """Count an entered call: one that was limited took its units already, another counts for later."""
    account = action.session.account
    if account.taken(action.id) is None:
        used = 0 if action.body_mode == "streamed" else size
        account.add((action.tool, action.name), Spent(1, used))
    account.keep(action.id)


def _shown(head: Head) -> Head:
    """Return the agent's head as the record may hold it: its own credentials are named, not kept."""
    return Head(head.method, head.path, tuple(inject.masked(head.headers)))


def _clean(services: Services, request: http.Request) -> tuple[tuple[bytes, bytes], ...]:
    clean = services.secrets.scrubber.clean
    return tuple((name, clean(value)[0]) for name, value in inject.masked(request.headers.fields))


def keeping_of(action: Action) -> Keeping:
    """Return how much of this call's payloads is stored."""
    ledger = action.governance.settings.ledger
    return Keeping(ledger.payloads, ledger.payload_limit)


def attempt_of(action: Action, *, agent_head: bytes = b"") -> Attempt:
    """Return what a denial of this call records."""
    target = action.request.target
    return Attempt(
        sid=action.session.sid,
        method=action.request.method,
        host=target.host,
        port=target.port,
        path=target.path,
        tool=action.tool,
        action=action.name,
        verdicts=action.verdicts,
        policy=action.governance.policy.hash,
        agent_head=agent_head,
        id=action.id,
        alone=action.ticket is not None,
    )
