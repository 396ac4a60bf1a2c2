"""The owner: what it answers over its socket, how sessions end, what it leaves when it stops."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ghost_core.errors import (
    DeniedError,
    NotFoundError,
    UnavailableError,
    UsageError,
)
from ghost_core.paths import home
from ghost_ledger import bundle
from ghost_ledger.session import control, control_server
from ghost_ledger.session.custody import Custody, has_key, is_owned
from ghost_ledger.verify import verify_bundle
from support.agent import raw_connect, secure_connect
from support.certs import Certs
from support.handclock import HandClock
from support.ledger import CLOSED
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.upstream import Upstream


def used(proxy: LiveProxy, session: LiveSession, up: Upstream) -> None:
    """Make one call, so that the proxy owns the session."""
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200


def test_the_owner_answers_over_the_control_socket(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    used(proxy, session, up)
    status = control.ask(session.sid, {"op": "status"}, timeout=5)
    assert status == {
        "session_id": session.sid,
        "port": proxy.port,
        "calls": 0,
        "home": str(proxy.home.root),
        "database": f"sqlite:///{proxy.home.root / 'ghost.db'}",
    }
    with pytest.raises(UsageError):
        control.ask(session.sid, {"op": "sing"}, timeout=5)
    document = control.ask(session.sid, {"op": "evaporate", "grace": 1}, timeout=10)
    assert document["status"] == "evaporated"
    assert document["ephemeral_key_destroyed"] is True
    with pytest.raises(NotFoundError):
        control.ask(session.sid, {"op": "status"}, timeout=5)


def test_the_owner_signs_for_others_while_the_session_lives(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    used(proxy, session, up)
    assert control.ask(session.sid, {"op": "sign"}, timeout=5) == {"signatures": []}
    owned = proxy.proxy.services.sessions.get(session.sid)
    assert owned is not None
    owned.ending = True
    with pytest.raises(DeniedError) as caught:
        control.ask(session.sid, {"op": "sign"}, timeout=5)
    assert caught.value.code == "session.evaporated"
    owned.ending = False
    proxy.evaporate(session)
    until(lambda: session.sid not in proxy.proxy._signings)


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


def test_a_child_dies_with_its_parent(proxy: LiveProxy, up: Upstream) -> None:
    parent = proxy.spawn("demo_api", ttl_seconds=60)
    child = proxy.spawn("demo_api", ttl_seconds=30, parent=parent.sid)
    used(proxy, child, up)
    proxy.evaporate(parent)
    with raw_connect(proxy.port, up.authority, child.auth) as tunnel:
        assert tunnel.status == 407
    assert proxy.types(child)[-1] == "session.seal"


def test_a_call_can_be_asked_for_over_the_control_socket(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    used(proxy, session, up)
    with pytest.raises(UsageError):
        control.ask(session.sid, {"op": "act", "tool": "nobody"}, timeout=5)
    assert control.ask(session.sid, {"op": "evaporate"}, timeout=10)["status"] == "evaporated"


def test_whoever_asks_a_moment_too_late_is_told(proxy: LiveProxy, session: LiveSession) -> None:
    with pytest.raises(DeniedError) as caught:
        proxy.do(proxy.proxy._control(session.sid, {"op": "status"}))  # a race
    assert caught.value.code == "session.evaporated"


def test_who_asks_for_the_end_twice_at_once_gets_one_answer(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    used(proxy, session, up)
    live = proxy.proxy.services.sessions.get(session.sid)
    assert live is not None

    async def twice() -> list[dict[str, object]]:
        ends = (proxy.proxy.evaporate(live, grace_seconds=0) for _ in range(2))
        return list(await asyncio.gather(*ends))

    one, other = proxy.do(twice())
    assert one == other
    assert proxy.types(session).count("session.seal") == 1


def test_an_end_that_the_ledger_cannot_take_can_be_asked_for_again(
    hasty: tuple[LiveProxy, Any], up: Upstream
) -> None:
    proxy, lock = hasty
    session = proxy.spawn("demo_api")
    used(proxy, session, up)
    lock.take()
    with pytest.raises(UnavailableError):
        proxy.evaporate(session)
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        assert tunnel.status in (407, 503)
    lock.release()
    assert proxy.evaporate(session)["status"] == "evaporated"
    assert proxy.types(session)[-1] == "session.seal"


def test_a_session_that_cannot_be_sealed_in_time_is_sealed_later(
    hasty: tuple[LiveProxy, Any], up: Upstream
) -> None:
    proxy, lock = hasty
    session = proxy.spawn("demo_api", ttl_seconds=60)
    used(proxy, session, up)
    live = proxy.proxy.services.sessions.get(session.sid)
    assert live is not None
    lock.take()
    live.ends = lambda: True
    until(lambda: live.ending and live.conclusion is None)
    assert proxy.types(session)[-1] == "action.outcome"
    lock.release()
    proxy.wait_for(session, 1, "session.seal")


def test_a_child_that_somebody_else_owns_does_not_keep_its_parent_alive(proxy: LiveProxy) -> None:
    parent, other = proxy.spawn("demo_api"), proxy.spawn("demo_api")
    child = proxy.spawn("demo_api", ttl_seconds=30, parent=parent.sid)
    with Custody.acquire(child.sid):
        assert proxy.evaporate(parent)["status"] == "evaporated"
    assert proxy.types(child) == ["session.spawn"]
    assert proxy.types(other) == ["session.spawn"]


def test_a_session_whose_socket_cannot_be_made_still_serves_its_client(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: object) -> None:
        raise UnavailableError("no room", code="control.socket")

    monkeypatch.setattr(control_server.ControlServer, "start", fails)
    used(proxy, session, up)
    with pytest.raises(NotFoundError):
        control.ask(session.sid, {"op": "status"}, timeout=1)


def test_a_child_dies_with_a_parent_that_ended_elsewhere(proxy: LiveProxy, up: Upstream) -> None:
    parent = proxy.spawn("demo_api", ttl_seconds=60)
    child = proxy.spawn("demo_api", ttl_seconds=30, parent=parent.sid)
    used(proxy, child, up)
    recorder = proxy.proxy.services.recorder
    custody = Custody.acquire(parent.sid)
    recorder.attach(parent.sid, custody.key)
    recorder.seal(parent.sid, CLOSED)
    custody.destroy()
    proxy.wait_for(child, 1, "session.seal")
