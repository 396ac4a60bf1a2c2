"""The engine: where it listens, how it ends, and what it must not write."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ghost_addons import master, ports
from ghost_addons.loop import run as in_loop
from ghost_addons.proxy import Proxy
from ghost_core.errors import ConfigError, FailedError, UnavailableError
from ghost_core.paths import home
from support.agent import Tunnel, raw_connect, secure_connect
from support.agent2 import Http2Client
from support.certs import Certs
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, live_proxy
from support.processes import possess, succeed
from support.upstream import Upstream


def opened() -> Proxy:
    return Proxy.open(home())


async def started(proxy: Proxy, host: str, port: int) -> int:
    """Start a proxy and stop it again; returns its port."""
    try:
        return await proxy.start(host, port)
    finally:
        await proxy.stop(grace_seconds=0)


def run(work: Callable[[], Awaitable[int]]) -> int:
    async def program() -> int:
        return await work()

    return in_loop(program())


def refused(host: str, port: int) -> UnavailableError:
    with pytest.raises(UnavailableError) as caught:
        run(lambda: started(opened(), host, port))
    return caught.value


def test_a_busy_port_is_told_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = refused("127.0.0.1", port)
    assert error.code == "port.busy"
    assert str(port) in error.message
    assert f"--port {port + 1}" in (error.hint or "")


def test_somebody_who_was_faster_is_told_as_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "free", lambda hosts, port: (hosts, port))
        assert refused("127.0.0.1", port).code == "port.busy"
        assert refused("192.0.2.1", port).code == "proxy.address"


def test_an_engine_that_does_not_become_ready_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master, "START_SECONDS", 0.05)
    monkeypatch.setattr(master._Ready, "running", lambda _: None)
    with pytest.raises(FailedError) as caught:
        run(lambda: started(opened(), "127.0.0.1", 0))
    assert caught.value.code == "proxy.start"


@pytest.mark.parametrize("failure", [ValueError("odd"), None])
def test_an_engine_that_ends_at_once_is_told(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ends(_: object) -> None:
        if failure is not None:
            raise failure

    monkeypatch.setattr(master.Master, "run", ends)
    with pytest.raises((ValueError, FailedError)) as caught:
        run(lambda: started(opened(), "127.0.0.1", 0))
    assert isinstance(caught.value, ValueError) is (failure is not None)


def test_a_broken_upstream_ca_is_told_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.pem"
    broken.write_text("nonsense")
    monkeypatch.setenv("GHOST_PROXY__UPSTREAM_CA", str(broken))
    with pytest.raises(ConfigError) as caught:
        run(lambda: started(opened(), "127.0.0.1", 0))
    assert caught.value.code == "config.upstream_ca"


def test_an_engine_that_never_started_ends_without_a_trace() -> None:
    made: list[Proxy] = []

    async def ended() -> int:
        made.append(opened())
        await made[0].stop(grace_seconds=0)
        return 0

    run(ended)
    assert not Path(made[0].engine.folder.name).exists()


def test_the_second_loopback_is_served_too() -> None:
    async def both() -> int:
        proxy = opened()
        port = await proxy.start("localhost", 0)
        try:
            return await asyncio.to_thread(_answers, port)
        finally:
            await proxy.stop(grace_seconds=0)

    assert run(both) == 2


def _answers(port: int) -> int:
    """Count the loopbacks on which the proxy refuses a stranger."""
    count = 0
    for host in ("127.0.0.1", "::1"):
        with raw_connect(port, "api.test:443", host=host) as tunnel:
            count += tunnel.status == 407
    return count


def test_an_upstream_on_the_second_loopback_is_reached(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    authority = f"[::1]:{up.port}"
    with live_proxy(tmp_path, certs, up, proxy={"allow_private": [authority]}) as live:
        session = live.spawn(f"POST https://{authority}/**")
        with raw_connect(live.port, authority, session.auth) as tunnel:
            assert tunnel.status == 200
            tunnel.tls(sni=None)
            assert tunnel.request("POST", "/status/200", {"Host": authority}, b"{}").status == 200
        assert live.last(session).fields["peer"] == authority


def test_clients_are_closed_once_and_unknown_ones_not_at_all(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    async def close() -> None:
        proxy.proxy.engine.close_client("nobody")
        for client in list(proxy.proxy.services.sessions.live[0].clients):
            proxy.proxy.engine.close_client(client)
            proxy.proxy.engine.close_client(client)

    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        proxy.do(close())
        assert tunnel.closed()


def test_a_held_call_finishes_within_the_grace_of_a_stop(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/slow?ms=300", {"Host": up.authority}, b"{}")
        up.wait_requests(1)
        proxy.do(proxy.proxy.engine.stop(grace_seconds=4))
        assert tunnel.answer().status == 200
    assert proxy.last(session).fields["status"] == "executed"


def test_a_stop_does_not_wait_for_idle_connections_and_takes_no_new_ones(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as idle:
        proxy.do(asyncio.wait_for(proxy.proxy.engine.stop(grace_seconds=60), 5))
        assert idle.closed()
    with pytest.raises(OSError):
        Tunnel(proxy.port)


def test_the_engines_chatter_stays_out_of_our_logs() -> None:
    master.quiet()
    for name in ("mitmproxy", "asyncio", "hpack", "h2"):
        assert not logging.getLogger(name).isEnabledFor(logging.INFO)


def test_no_session_keys_of_tls_are_written(
    tmp_path: Path, certs: Certs, up: Upstream, proxy: LiveProxy
) -> None:
    keys = tmp_path / "tls.keys"
    live = proxy.home
    session = succeed(live, "spawn", "--intent", "test", "--scope", "demo_api", timeout=20).json
    env = {"SSLKEYLOGFILE": str(keys), "MITMPROXY_SSLKEYLOGFILE": str(keys)}
    with possess(live, env=env) as running:
        auth = (session["session_id"], session["token"])
        certificate = home().ca / "ghost-ca-cert.pem"
        with secure_connect(running.port, up.authority, auth, ca=certificate) as tunnel:
            assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
    assert not keys.exists()


def h2(proxy: LiveProxy, session: LiveSession, up: Upstream) -> Http2Client:
    tunnel = secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",))
    return Http2Client(tunnel)


def test_a_slow_stream_does_not_hold_up_its_siblings(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    others_done, in_time = threading.Event(), list[bool]()

    def wait(exchange: Exchange) -> None:
        in_time.append(others_done.wait(5))
        exchange.reply(200, b"late")

    up.route("/wait", wait)
    client = h2(proxy, session, up)
    with client.tunnel:
        slow = client.begin("POST", "/wait", up.authority, body=b"{}")
        others = [client.begin("POST", "/echo", up.authority, body=b"%d" % n) for n in range(3)]
        assert [client.answer(stream).status for stream in others] == [200] * 3
        others_done.set()
        assert client.answer(slow).body == b"late"
    assert in_time == [True]


def test_many_streams_of_one_connection_keep_their_own_answers(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/mirror", lambda each: each.reply(200, each.record.body))
    client = h2(proxy, session, up)
    with client.tunnel:
        bodies = [b"%d" % number for number in range(20)]
        streams = [client.begin("POST", "/mirror", up.authority, body=body) for body in bodies]
        assert [client.answer(stream).body for stream in streams] == bodies
    outcomes = [each for each in proxy.entries(session) if each.type == "action.outcome"]
    assert len({each.fields["intent"] for each in outcomes}) == 20


def test_a_stream_that_is_refused_leaves_the_others_alone(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with live_proxy(tmp_path, certs, up) as live:
        session = live.spawn(f"GET {up.url}/**")
        client = h2(live, session, up)
        with client.tunnel:
            slow = client.begin("GET", "/slow?ms=300", up.authority)
            denied = client.begin("DELETE", "/echo", up.authority)
            assert client.answer(denied).status == 403
            assert client.answer(slow).status == 200
            assert client.request("GET", "/echo", up.authority).status == 200
    assert {each.method for each in up.requests} == {b"GET"}
