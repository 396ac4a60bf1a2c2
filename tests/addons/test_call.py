"""One prepared call through our own proxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_addons import call
from ghost_core.errors import FailedError
from support.certs import Certs
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, live_proxy
from support.processes import free_port
from support.upstream import Upstream


def door(proxy: LiveProxy, session: LiveSession) -> call.Door:
    return call.Door(proxy.port, session.sid, session.token, proxy.ca)


def test_a_call_comes_back_whole(proxy: LiveProxy, session: LiveSession, up: Upstream) -> None:
    answer = call.make(
        door(proxy, session),
        "POST",
        f"{up.url}/echo?a=1",
        headers=((b"X-One", b"\xe4"),),
        body=b"{}",
    )
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    (record,) = up.requests
    assert (record.target, record.body, record.header("x-one")) == (b"/echo?a=1", b"{}", b"\xe4")


def test_a_url_without_a_path_asks_for_the_root(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    call.make(door(proxy, session), "GET", up.url)
    assert up.requests[0].target == b"/"


def test_a_plain_call_goes_through_the_proxy_too(tmp_path: Path, certs: Certs) -> None:
    with Upstream() as plain:
        allowed = {"allow_private": [plain.authority]}
        with live_proxy(tmp_path, certs, proxy=allowed) as live:
            session = live.spawn(f"GET http://{plain.authority}/echo")
            answer = call.make(door(live, session), "GET", f"{plain.url}/echo")
        assert answer.status == 200
        assert plain.requests[0].header("proxy-authorization") is None


def test_an_answer_is_cut_one_byte_past_the_limit(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call, "MAX_REPLY_BYTES", 100)
    answer = call.make(door(proxy, session), "GET", f"{up.url}/bytes/5000")
    assert len(answer.body) == 101


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_where_nobody_listens_there_is_no_answer(scheme: str, certs: Certs) -> None:
    way = call.Door(free_port(), "gh_1", "x", certs.ca)
    with pytest.raises(FailedError) as caught:
        call.make(way, "GET", f"{scheme}://api.test/x", timeout_seconds=2)
    assert caught.value.code == "call.failed"
    assert "api.test" in caught.value.message


def test_an_answer_that_breaks_off_is_none(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.start(200, length=2_000_000)
        exchange.send(b"x")
        exchange.abort()

    up.route("/broken", broken)
    with pytest.raises(FailedError):
        call.make(door(proxy, session), "GET", f"{up.url}/broken", timeout_seconds=4)
