"""An open tunnel takes the shortcut, plain HTTP does not, and what closes is closed as before."""

from __future__ import annotations

from ghost_addons.shortcut import Pipe
from support.agent import Tunnel, secure_connect
from support.live import LiveProxy, until
from support.upstream import Upstream


def shortened(proxy: LiveProxy) -> list[bool]:
    """Tell for each open client connection whether it goes by the shortcut."""
    server = proxy.proxy.engine._server
    assert server is not None
    return [isinstance(each.layer, Pipe) for each in server.connections.values()]


def call(tunnel: Tunnel, up: Upstream) -> int:
    return tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status


def test_a_tunnel_takes_the_shortcut_and_keeps_working(proxy: LiveProxy, up: Upstream) -> None:
    session = proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        statuses = [call(tunnel, up) for _ in range(3)]
        assert shortened(proxy) == [True]
    assert statuses == [200, 200, 200]
    assert len(proxy.wait_for(session, 3, "action.outcome")) == 3


def test_a_client_that_leaves_a_tunnel_is_forgotten(proxy: LiveProxy, up: Upstream) -> None:
    session = proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        call(tunnel, up)
    until(lambda: shortened(proxy) == [])


def test_a_session_that_ends_closes_its_tunnel(proxy: LiveProxy, up: Upstream) -> None:
    session = proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        call(tunnel, up)
        proxy.evaporate(session)
        until(tunnel.closed)


def test_a_connection_without_a_tunnel_takes_none(proxy: LiveProxy) -> None:
    with Tunnel(proxy.port) as plain:
        plain.send(b"GET http://demo.test/ HTTP/1.1\r\nHost: demo.test\r\n\r\n")
        assert plain.answer().status == 407
        assert True not in shortened(proxy)
