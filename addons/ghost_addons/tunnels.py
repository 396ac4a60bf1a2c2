"""Opening a way: who the client is, whether the host is in scope, which address it is pinned to."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import replace

from mitmproxy import http

from ghost_addons import authority, leak, quarantine
from ghost_addons.connection import Tunnel
from ghost_addons.record import Attempt
from ghost_addons.refusal import Refusal, refusal_of, unauthenticated
from ghost_addons.services import Services
from ghost_addons.session import Identity
from ghost_addons.uid import same_user
from ghost_core.errors import DeniedError, GhostError, NotFoundError, UnavailableError
from ghost_hooks.address import resolve
from ghost_hooks.target import Target

HTTPS_PORT = 443


class Refused(Exception):  # noqa: N818  # control flow inside the guard, not an error of the product
    """A call is refused; the guard enters it and answers."""

    def __init__(self, refusal: Refusal, attempt: Attempt | None = None) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
        self.attempt = attempt


def identify(services: Services, presented: Sequence[str], flow: http.HTTPFlow) -> Identity:
    """Return the session of this client; raises Refused with 407.

    Presented credentials always decide. Without any, a client under our own uid on loopback belongs to the
    session that possess was started with, if there is one.
    """
    attempt = Attempt(
        sid="", method=flow.request.method, host=shown(flow.request.host), port=flow.request.port
    )
    try:
        if presented:
            value = presented[0].encode("latin-1", "replace")
            return services.sessions.authenticate(value)
        if services.sessions.bare and same_user(
            flow.client_conn.peername, flow.client_conn.sockname
        ):
            return services.sessions.default()
    except (DeniedError, NotFoundError) as error:
        raise Refused(unauthenticated(error.message, code=error.code), attempt) from error
    except UnavailableError as error:
        raise Refused(refusal_of(error), attempt) from error
    raise Refused(unauthenticated("no proxy credentials were presented"), None)


async def open_tunnel(services: Services, identity: Identity, request: http.Request) -> Tunnel:
    """Judge the authority of a CONNECT and pin its address; raises Refused.

    A host on port 443 that may not be reached still gets its tunnel, which ends here: every request inside
    is answered with the reason. Other ports are refused at once.
    """
    try:
        host, port = authority.place_of(request.authority or request.host, scheme="https")
    except DeniedError as error:
        raise Refused(refusal_of(error), _attempt(identity, request)) from error
    tunnel = Tunnel(identity.session, "https", host, port, ticket=identity.ticket)
    await _pin(services, tunnel)
    if tunnel.refusal is not None and port != HTTPS_PORT:
        raise Refused(tunnel.refusal, _attempt(identity, request, host=host, port=port))
    return tunnel


async def open_plain(services: Services, identity: Identity, request: http.Request) -> Tunnel:
    """Judge the authority of a plain request in absolute form; raises Refused."""
    if request.scheme != "http":
        refusal = Refusal(
            status=400,
            code="target.scheme",
            message="an https target needs CONNECT",
            stage="authority",
            rule="authority",
            hint="let the client open a tunnel",
        )
        raise Refused(refusal, _attempt(identity, request))
    try:
        names = authority.names_in("", request.headers.get_all("host"))
        shown = f"[{request.host}]" if ":" in request.host else request.host
        place = authority.place_of(f"{shown}:{request.port}", scheme="http")
        authority.agree(place, scheme="http", sni=None, names=names)
    except DeniedError as error:
        raise Refused(refusal_of(error), _attempt(identity, request)) from error
    tunnel = Tunnel(identity.session, "http", place[0], place[1], ticket=identity.ticket)
    await _pin(services, tunnel)
    return tunnel


async def _pin(services: Services, tunnel: Tunnel) -> None:
    """Resolve once, judge every address, keep the one to dial; without a scope nothing is resolved."""
    tunnel.refusal = quarantine.refusal(tunnel.session)
    if tunnel.refusal is not None:
        return
    owner = services.secrets.owner(tunnel.host.encode())
    if owner is not None:  # a resolver would hear it
        tunnel.refusal = leak.refusal_about(owner)
        return
    try:
        governance = services.governor.in_force(tunnel.session.scopes)
        target = Target(tunnel.scheme, tunnel.host, tunnel.port)
        verdict = governance.policy.reachable(target)
        if not verdict.allow:
            tunnel.refusal = replace(refusal_of(verdict), hint=governance.policy.way_to(target))
            return
        allowed = governance.settings.proxy.allow_private
        address = await resolve(tunnel.host, tunnel.port, allow_private=allowed)
        _refuse_own(services, address, tunnel.port)
        tunnel.address = address
    except GhostError as error:
        tunnel.refusal = refusal_of(error)


def _refuse_own(services: Services, address: str, port: int) -> None:
    """Refuse a way that leads back to this proxy, which would serve itself as a client of its own user."""
    ports = {door for _, door in services.doors}
    loops = (address, port) in services.doors or ipaddress.ip_address(address).is_loopback
    if port in ports and loops:
        raise DeniedError(f"port {port} of this machine is the proxy itself", code="target.own")


def _attempt(
    identity: Identity, request: http.Request, *, host: str = "", port: int = 0
) -> Attempt:
    ticket = identity.ticket
    return Attempt(
        sid=identity.session.sid,
        method=request.method,
        host=host or shown(request.host),
        port=port or request.port,
        id=ticket.action_id if ticket else "",
        alone=ticket is not None,
    )


def shown(host: str) -> str:
    """Return a host that nobody has judged yet in a form that is safe to record."""
    return host.encode("ascii", "backslashreplace").decode() or "unknown"
