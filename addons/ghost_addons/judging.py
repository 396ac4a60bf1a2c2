"""Judging the head of a request: session, grammar, names, path, scope. Nothing is sent or written here."""

from __future__ import annotations

from mitmproxy import http

from ghost_addons import admission, authority, grammar, quarantine
from ghost_addons.action import Action
from ghost_addons.connection import Tunnel
from ghost_addons.inject import head_of
from ghost_addons.record import Attempt
from ghost_addons.refusal import refusal_of, unauthenticated
from ghost_addons.services import Services
from ghost_addons.tunnels import Refused
from ghost_core.errors import DeniedError, GhostError
from ghost_credentials.strip import unnamed
from ghost_hooks.request import Request
from ghost_hooks.target import Target


def judge(services: Services, tunnel: Tunnel, flow: http.HTTPFlow) -> Action:
    """Judge the head of a request: session, names, path, scope; raises Refused."""
    request = flow.request
    session = tunnel.session
    if not session.alive():
        refusal = unauthenticated("the session has ended", code="session.ended")
        raise Refused(refusal, _attempt(tunnel, request))
    stopped = quarantine.refusal(session)
    if stopped is not None:
        raise Refused(stopped, _attempt(tunnel, request))
    try:
        grammar.require_plain(flow)
        request.headers.fields = unnamed(head_of(request, path="")).headers
        target = _target(tunnel, flow)
        governance = services.governor.in_force(session.scopes)
        services.secrets.learn(governance.credentials)
        wanted = (tunnel.ticket.tool, tunnel.ticket.action) if tunnel.ticket else None
        decision = governance.policy.judge(request.method, target, wanted=wanted)
        judged = Request(request.method, target, tuple(request.headers.fields))
        action = Action(
            session, governance, decision, judged, client=flow.client_conn.id, ticket=tunnel.ticket
        )
        if tunnel.ticket is not None:
            action.id = tunnel.ticket.action_id
        action.verdicts = decision.verdicts
        action.websocket = _is_websocket(request)
        admission.require(services, action, request, decision.verdicts)
        if tunnel.refusal is not None:
            raise Refused(tunnel.refusal, admission.attempt_of(action))
    except GhostError as error:
        raise Refused(refusal_of(error), _attempt(tunnel, request)) from error
    return action


def _target(tunnel: Tunnel, flow: http.HTTPFlow) -> Target:
    request = flow.request
    scheme = "https" if flow.client_conn.tls_established else "http"
    if not scheme == request.scheme == tunnel.scheme:
        raise DeniedError("the tunnel was opened for TLS", code="target.mismatch")
    # HTTP/2 carries the authority as `:authority`, HTTP/1 in a target in absolute form.
    hosts = request.headers.get_all("host")
    names = authority.names_in(request.authority, hosts)
    place = (tunnel.host, tunnel.port)
    authority.agree(place, scheme=scheme, sni=flow.client_conn.sni, names=names)
    target = Target.at(scheme, tunnel.host, tunnel.port, request.path)
    _write_names(request, target, hosts)
    return target


def _write_names(request: http.Request, target: Target, hosts: list[str]) -> None:
    """Put the judged spelling of host and path into the request that will be sent.

    In HTTP/1 a target in absolute form becomes one in origin form (RFC 9112 §3.2.1).
    """
    request.path = target.path_and_query
    if "expect" in request.headers:
        request.headers["expect"] = "100-continue"  # once, or the engine does not see it
    if request.is_http2 and request.authority:
        request.headers.pop("host", None)
        request.data.authority = target.authority.encode()
        return
    request.data.authority = b""
    if hosts != [target.authority]:
        request.headers["host"] = target.authority


def _is_websocket(request: http.Request) -> bool:
    upgrade: str = request.headers.get("upgrade", "")
    return upgrade.lower() == "websocket"


def _attempt(tunnel: Tunnel, request: http.Request) -> Attempt:
    return Attempt(
        sid=tunnel.session.sid,
        method=request.method,
        host=tunnel.host,
        port=tunnel.port,
        path=request.path.partition("?")[0],
        id=tunnel.ticket.action_id if tunnel.ticket else "",
        alone=tunnel.ticket is not None,
    )
