"""The guard: every handler of the engine, behind one wrapper that turns any failure into a denial.

The engine itself logs an exception in an addon and sends the request anyway. Here nothing is sent unless a
handler ran to its end: an upstream may be dialled only for a call that was admitted.
"""

from __future__ import annotations

import asyncio
import functools
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from mitmproxy import connection, http, tcp, udp
from mitmproxy.net.http import http1
from mitmproxy.proxy import server_hooks

from ghost_addons import (
    admission,
    delivery,
    denials,
    guesses,
    holding,
    judging,
    leak,
    pacing,
    stream,
    tunnels,
    unread,
    websocket,
)
from ghost_addons.action import Action
from ghost_addons.connection import Peer, Tunnel
from ghost_addons.record import Attempt
from ghost_addons.refusal import (
    NESTED,
    TOO_LONG,
    Refusal,
    failure,
    failure_of,
    refusal_of,
)
from ghost_addons.relay import Relay
from ghost_addons.services import Services
from ghost_addons.session import Identity
from ghost_addons.tunnels import Refused
from ghost_core import log
from ghost_core.errors import ConfigError, DeniedError
from ghost_hooks import turns

ACTION = "ghost.action"
CLOSES = "ghost.closes"

type Handler = Callable[["Guard", http.HTTPFlow], Awaitable[None]]


def guarded(handler: Handler) -> Handler:
    """Turn whatever a handler raises into a refusal that is entered in the ledger."""

    @functools.wraps(handler)
    async def run(self: Guard, flow: http.HTTPFlow) -> None:
        self.belongs(flow)
        try:
            await handler(self, flow)
        except Refused as refused:
            await self.refuse(flow, refused.refusal, refused.attempt)
        except asyncio.CancelledError:
            await self.refuse(flow, failure("cancelled"), None)
        except Exception as error:  # noqa: BLE001  # the guard: whatever fails, nothing passes
            log.events(__name__).error(
                "guard.failed",
                handler=handler.__name__,
                error=type(error).__name__,
                code=getattr(error, "code", ""),
                place=_place(error),
                why=error.message
                if isinstance(error, ConfigError)
                else "",  # names files, no values
            )
            await self.refuse(flow, failure_of(error), None)

    return run


class Guard:
    """The only addon that decides; its handlers hold no state beyond the connection and the call."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._peers: dict[str, Peer] = {}
        self.close_client: Callable[[str], None] = lambda _: None
        self.cut: Callable[[str], None] = lambda _: None

    # -- connections ---------------------------------------------------------------------------------

    def client_disconnected(self, client: connection.Client) -> None:
        """Forget a connection."""
        pacing.forget(client.id)
        peer = self._peers.pop(client.id, None)
        if peer and peer.tunnel:
            peer.tunnel.session.clients.discard(client.id)

    @guarded
    async def http_connect(self, flow: http.HTTPFlow) -> None:
        """Authenticate the client, judge the authority, pin the address; nothing is dialled here."""
        peer = self._peer(flow)
        if flow.client_conn.tls_established or _is_open(peer.tunnel):
            # One connection, one tunnel: what is judged for a second must not be dialled for the first.
            raise Refused(NESTED)
        identity = self._identify(flow)
        peer.tunnel = await tunnels.open_tunnel(self.services, identity, flow.request)
        identity.session.clients.add(flow.client_conn.id)
        if peer.tunnel.refusal is None:
            flow.request.host = peer.tunnel.address

    def belongs(self, flow: http.HTTPFlow) -> None:
        """Note whose call this task is about, as far as that is known."""
        peer = self._peers.get(flow.client_conn.id)
        if peer is not None and peer.tunnel is not None:
            turns.belongs_to(peer.tunnel.session.sid)
            pacing.belongs(flow.client_conn.id, peer.tunnel.session.pace)

    @property
    def busy(self) -> bool:
        """Tell whether a call is in flight."""
        return any(session.calls for session in self.services.sessions.live)

    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Let the engine dial only what was judged, and only while an admitted call needs it."""
        if data.server.error is not None:
            return  # the engine has found that it would call itself
        data.server.error = "ghost: no admitted call for this address"  # stands if we fail
        tunnel = self._dialled(data.client.id, data.server)
        if tunnel is not None:
            # The certificate is checked for the name that was judged, not for the client's spelling of it.
            data.server.sni = tunnel.host if data.server.tls else None
            data.server.error = None

    def _dialled(self, client_id: str, server: connection.Server) -> Tunnel | None:
        """Return the open tunnel if it was judged for this very place, over TLS or not."""
        peer = self._peers.get(client_id)
        if peer is None or peer.tunnel is None or not peer.admitted:
            return None
        judged = (peer.tunnel.address, peer.tunnel.port)
        same = server.address == judged and server.tls == (peer.tunnel.scheme == "https")
        return peer.tunnel if same else None

    # -- requests ------------------------------------------------------------------------------------

    @guarded
    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Judge the head; admit at once what streams, leave the rest to `request`."""
        if flow.error:
            raise Refused(unread.refusal_of(flow.request))
        tunnel = await self._tunnel(flow)
        self.belongs(flow)
        action = judging.judge(self.services, tunnel, flow)
        flow.metadata[ACTION] = action
        flow.metadata[CLOSES] = _asks_to_close(flow.request)
        if not admission.holds_body(action, flow):
            await self._admit(flow, action, body=None)
            flow.request.stream = self._passing(flow, action)

    @guarded
    async def request(self, flow: http.HTTPFlow) -> None:
        """Admit a call whose body is complete; a streamed one was admitted before its first byte."""
        flow.request.trailers = None  # nobody judged them, and HTTP/1.1 upstreams cannot be told
        action = flow.metadata.get(ACTION)
        if flow.response is not None or not isinstance(action, Action):
            if flow.response is None:
                raise RuntimeError("a request without a judgement")
            return
        if action.body_mode != "streamed":
            body = flow.request.raw_content or b""
            try:
                holding.frame(flow.request, len(body))
            except DeniedError as error:
                raise Refused(refusal_of(error)) from error
            await self._admit(flow, action, body=body)

    def _passing(self, flow: http.HTTPFlow, action: Action) -> Relay:
        """Return the callable of a streamed body; one that can be a form is cut where it names a method."""
        coding = flow.request.headers.get("content-encoding", "").encode("latin-1")
        relay = stream.hashing(
            action,
            leak.Outflow(self.services.secrets, action, coding),
            on_error=lambda error: self._cut_upload(flow, action, error),
            declared=stream.declared_length(flow.request),
        )
        hit = stream.may_name_method(flow.request)
        if hit is None:
            return relay
        client = flow.client_conn.id

        def cut() -> None:
            action.flags.append("cut")
            self.cut(client)

        return stream.watching(relay, hit=hit, close=cut)

    async def _admit(self, flow: http.HTTPFlow, action: Action, *, body: bytes | None) -> None:
        await admission.admit(self.services, action, flow.request, body=body)
        peer = self._peers.get(flow.client_conn.id)
        if peer is not None:  # a client that left meanwhile needs nothing dialled
            peer.admitted.add(action.id)

    def _cut_upload(self, flow: http.HTTPFlow, action: Action, error: Exception) -> None:
        """Cut both sides of a call whose body may not go on, so that the upstream never sees its end."""
        action.error = getattr(error, "code", "guard.failed")
        if isinstance(error, leak.LeakedError):
            leak.told(action, error.name)
            guesses.count(self.services, action.session, action_id=action.id)
        self.cut(flow.client_conn.id)

    def _over(self, flow: http.HTTPFlow, action: Action) -> None:
        """Let nothing be dialled for this call any more; harmless if it is over already."""
        peer = self._peers.get(flow.client_conn.id)
        if peer is not None:
            peer.admitted.discard(action.id)

    # -- replies -------------------------------------------------------------------------------------

    @guarded
    async def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Clean the headers; decide whether the body is held or relayed."""
        action = self._admitted(flow)
        if action is not None and flow.response is not None:
            if flow.metadata.get(CLOSES):
                flow.response.headers["connection"] = "close"
            client = flow.client_conn.id
            delivery.open_reply(
                self.services, action, flow, on_error=lambda _: self.close_client(client)
            )

    @guarded
    async def response(self, flow: http.HTTPFlow) -> None:
        """Clean and judge a held reply; make the outcome durable before the answer is released."""
        delivery.reapply(flow)
        action = self._admitted(flow)
        if action is not None and delivery.WITHHELD not in flow.metadata:
            await delivery.finish_reply(self.services, action, flow)
        if action is not None and flow.websocket is None:
            self._over(flow, action)

    @guarded
    async def error(self, flow: http.HTTPFlow) -> None:
        """Enter what became of a call that ended without a complete answer."""
        judged = flow.metadata.get(ACTION)
        if holding.gave_up(flow) and isinstance(judged, Action):
            raise Refused(TOO_LONG, admission.attempt_of(judged))
        action = self._admitted(flow)
        if action is not None:
            self._over(flow, action)
            await delivery.settle_failed(self.services, action, flow)
        elif isinstance(judged, Action) and unread.broke(flow):
            raise Refused(unread.refusal_of(flow.request), admission.attempt_of(judged))

    # -- websockets and everything else --------------------------------------------------------------

    @guarded
    async def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Relay one message, scrubbed; a session that ended gets no further one."""
        action = self._admitted(flow)
        if action is None or not await websocket.relay(self.services, action, flow):
            websocket.drop(flow)
            self.close_client(flow.client_conn.id)

    @guarded
    async def websocket_end(self, flow: http.HTTPFlow) -> None:
        """Enter the outcome of a websocket, with its frame counts."""
        action = self._admitted(flow)
        if action is not None:
            self._over(flow, action)
            await delivery.settle_websocket(self.services, action, flow)

    def tcp_start(self, flow: tcp.TCPFlow) -> None:
        """Refuse raw TCP: nothing passes that was not judged."""
        flow.kill()

    def udp_start(self, flow: udp.UDPFlow) -> None:
        """Refuse UDP for the same reason."""
        flow.kill()

    # -- refusing ------------------------------------------------------------------------------------

    async def refuse(self, flow: http.HTTPFlow, refusal: Refusal, attempt: Attempt | None) -> None:
        """Enter the refusal and put it in the place of the answer."""
        found = flow.metadata.get(ACTION)
        action = found if isinstance(found, Action) else None
        if action is not None and (action.admitted or action.intent is not None):
            self._over(flow, action)
        denial = await denials.enter(
            self.services,
            action,
            lambda: attempt or self._attempt(flow),
            refusal,
            client=flow.client_conn.id,
            address=flow.client_conn.peername[0],
        )
        websocket.drop(flow)
        delivery.answer(
            flow,
            denial.refusal,
            sid=denial.sid,
            action_id=denial.action_id,
            close=self.close_client,
        )

    def _attempt(self, flow: http.HTTPFlow) -> Attempt:
        """Return what is known of a request that failed before it was judged."""
        peer = self._peers.get(flow.client_conn.id)
        tunnel = peer.tunnel if peer else None
        host = tunnel.host if tunnel else tunnels.shown(flow.request.host)
        return Attempt(
            sid=tunnel.session.sid if tunnel else "",
            method=flow.request.method,
            host=host,
            port=tunnel.port if tunnel else flow.request.port,
        )

    # -- who is it -----------------------------------------------------------------------------------

    def _peer(self, flow: http.HTTPFlow) -> Peer:
        client = flow.client_conn.id
        peer = self._peers.get(client)
        if peer is None:
            peer = self._peers[client] = Peer()
        return peer

    def _admitted(self, flow: http.HTTPFlow) -> Action | None:
        action = flow.metadata.get(ACTION)
        return action if isinstance(action, Action) and action.admitted else None

    async def _tunnel(self, flow: http.HTTPFlow) -> Tunnel:
        peer = self._peer(flow)
        if peer.tunnel is not None and peer.tunnel.scheme == "https":
            return peer.tunnel
        identity = self._identify(flow)
        peer.tunnel = await tunnels.open_plain(self.services, identity, flow.request)
        identity.session.clients.add(flow.client_conn.id)
        if peer.tunnel.refusal is None:
            flow.request.data.host = peer.tunnel.address
        return peer.tunnel

    def _identify(self, flow: http.HTTPFlow) -> Identity:
        presented = flow.request.headers.get_all("proxy-authorization")
        flow.request.headers.pop("proxy-authorization", None)
        return tunnels.identify(self.services, presented, flow)


def _is_open(tunnel: Tunnel | None) -> bool:
    return tunnel is not None and tunnel.scheme == "https"


def _asks_to_close(request: http.Request) -> bool:
    """Tell whether the client wants the connection to end (RFC 9112 §9.6); the line itself is stripped."""
    older = request.is_http10 or request.is_http11
    return older and http1.connection_close(request.http_version, request.headers)


def _place(error: BaseException) -> str:
    """Return file and line where it was raised; never its text, which may repeat what was sent."""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        place = f"{Path(frame.f_code.co_filename).name}:{line}"
    return place
