"""The owner: what it answers over its socket, how sessions end, what it leaves when it stops."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.agent import raw_connect, secure_connect
from support.certs import Certs
from support.handclock import HandClock
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

from ghost_addons.proxy import Proxy
from ghost_core.errors import ConfigError, NotFoundError, UsageError
from ghost_core.paths import home
from ghost_ledger import bundle
from ghost_ledger.session import control
from ghost_ledger.session.custody import has_key, is_owned
from ghost_ledger.verify import verify_bundle


def used(proxy: LiveProxy, session: LiveSession, up: Upstream) -> None:
    """Make one call, so that the proxy owns the session."""
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200


def test_the_owner_answers_over_the_control_socket(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    used(proxy, session, up)
    status = control.ask(session.sid, {"op": "status"}, timeout=5)
    assert status == {"session_id": session.sid, "port": proxy.port, "calls": 0}
    with pytest.raises(UsageError):
        control.ask(session.sid, {"op": "sing"}, timeout=5)
    document = control.ask(session.sid, {"op": "evaporate", "grace": 1}, timeout=10)
    assert document["status"] == "evaporated"
    assert document["ephemeral_key_destroyed"] is True
    with pytest.raises(NotFoundError):
        control.ask(session.sid, {"op": "status"}, timeout=5)


def test_an_evaporated_session_verifies_with_its_key_alone(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    used(proxy, session, up)
    proxy.evaporate(session)
    data = bundle.encode(proxy.proxy.services.ledger.bundle(session.sid, home()))
    report = verify_bundle(data, [session.verify_key])
    assert (report.verdict, report.exit_code) == ("valid", 0)
    assert not has_key(session.sid)


def test_nothing_is_claimed_to_be_rotated_that_was_not(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    used(proxy, session, up)
    document = proxy.evaporate(session)
    assert document["credentials_rotated"] is False
    assert document["revocation"] == [{"credential": "demo", "state": "static"}]
    assert document["actions_executed"] == 1
    scan = str(document["memory_scan"])
    assert scan == "clean" or scan.startswith("residual:")


def test_a_session_is_sealed_by_its_owner_when_its_time_is_over(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    clock = HandClock()
    with live_proxy(tmp_path, certs, up, clock=clock) as live:
        session = live.spawn("demo_api", ttl_seconds=30)
        used(live, session, up)
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            clock.pass_seconds(31)
            assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 407
        (closed,) = live.wait_for(session, 1, "session.closed")
        assert closed.fields["reason"] == "ttl"
        live.wait_for(session, 1, "session.seal")
    assert len(up.requests) == 1


def test_a_stopped_owner_leaves_the_session_for_the_next_one(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        used(live, session, up)
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            tunnel.request("GET", "/echo", {"Host": up.authority})
        assert is_owned(session.sid)
        live.stop()
        assert not is_owned(session.sid)
        assert has_key(session.sid)
        again = LiveProxy(live.home, live.clock)
        again.start()
        used(again, session, up)
        again.evaporate(session)
        closed = next(each for each in again.entries(session) if each.type == "session.closed")
        assert closed.fields["reads"] == 1
        again.stop()


def test_a_setting_that_cannot_be_honoured_is_refused(
    tmp_path: Path, certs: Certs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_proxy(tmp_path, certs):
        monkeypatch.setenv("GHOST_PROXY__UPSTREAM_PROXY", "http://corporate:3128")

        async def opened() -> None:
            Proxy.open(home())

        with pytest.raises(ConfigError, match="upstream_proxy"):
            asyncio.run(opened())


def test_a_child_dies_with_its_parent(proxy: LiveProxy, up: Upstream) -> None:
    parent = proxy.spawn("demo_api", ttl_seconds=60)
    child = proxy.spawn("demo_api", ttl_seconds=30, parent=parent.sid)
    used(proxy, child, up)
    proxy.evaporate(parent)
    with raw_connect(proxy.port, up.authority, child.auth) as tunnel:
        assert tunnel.status == 407
    assert proxy.types(child)[-1] == "session.seal"
