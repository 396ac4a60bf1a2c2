"""Calls that outlast their session or their owner."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from ghost_addons import draining
from ghost_core.errors import UnavailableError
from ghost_ledger.session.custody import is_owned
from support.agent import secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.upstream import Upstream


def test_a_held_call_that_outlasts_the_grace_is_cut_and_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/slow?ms=4000", {"Host": up.authority}, b"{}")
        up.wait_requests(1)
        proxy.evaporate(session, grace_seconds=0.1)
        assert tunnel.closed()
    outcome = next(each for each in proxy.entries(session) if each.type == "action.outcome")
    assert (outcome.fields["status"], outcome.fields["ended"]) == ("failed", "aborted")
    assert proxy.types(session)[-1] == "session.seal"


def held(up: Upstream) -> threading.Event:
    """Add a route that answers when the event is set, 5 s later at the latest."""
    go = threading.Event()

    def wait(exchange: Exchange) -> None:
        go.wait(5)
        exchange.reply(200)

    up.route("/held", wait)
    return go


def test_a_call_that_outlasts_the_stop_has_an_outcome(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    go = held(up)
    with live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            tunnel.begin("POST", "/held", {"Host": up.authority}, b"{}")
            up.wait_requests(1)
            live.stop()
            assert tunnel.closed()
        go.set()
        again = LiveProxy(live.home, live.clock)
        again.start()
        outcome = again.entries(session)[2]
        again.stop()
    assert (outcome.type, outcome.fields["status"]) == ("action.outcome", "failed")


def test_a_stop_goes_on_where_the_ledger_cannot_take_an_outcome(
    hasty: tuple[LiveProxy, Any], up: Upstream
) -> None:
    proxy, lock = hasty
    go, session = held(up), proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/held", {"Host": up.authority}, b"{}")
        up.wait_requests(1)
        lock.take()
        with pytest.raises(UnavailableError):
            proxy.stop()
        assert tunnel.closed()
    go.set()
    assert not is_owned(session.sid)
    proxy.stop = lambda: None  # type: ignore[method-assign]  # it is stopped


def locked(live: LiveProxy) -> sqlite3.Connection:
    """Return a connection that holds the write lock of the database."""
    other = sqlite3.connect(live.home.root / "ghost.db", check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_call_whose_intent_is_on_its_way_is_waited_for_and_not_sent(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
        owned = proxy.proxy.services.sessions.get(session.sid)
        assert owned is not None
        other = locked(proxy)
        tunnel.begin("POST", "/echo", {"Host": up.authority}, b"{}")
        until(lambda: any(each.intent is None for each in owned.calls.values()))
        release = threading.Timer(draining.CUT_SECONDS + 1, other.rollback)
        release.start()
        proxy.evaporate(session, grace_seconds=0)
        release.join()
    other.close()
    kinds = proxy.types(session)
    assert kinds[kinds.index("action.intent") + 1] == "action.outcome"
    assert kinds[-1] == "session.seal"
    assert len(up.requests) == 1
