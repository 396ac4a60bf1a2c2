"""Whatever fails in a handler, nothing reaches the upstream and the ledger says so."""

from __future__ import annotations

import pytest
from support.agent import raw_connect, secure_connect
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

BROKEN = {
    "http_connect": ("ghost_addons.tunnels.open_tunnel", 500),
    "requestheaders": ("ghost_addons.admission.judge", 500),
    "request": ("ghost_addons.admission.admit", 500),
}


class Surprise(Exception):  # noqa: N818
    """Something nobody expected."""


def explode(*_: object, **__: object) -> None:
    """Fail as an unknown mistake would."""
    raise Surprise("sk_live_51QtestOnlyReal8841")


@pytest.mark.parametrize("handler", BROKEN)
def test_a_failing_handler_sends_nothing_and_enters_a_denial(
    handler: str,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BROKEN[handler][0], explode)
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        if handler == "http_connect":
            answer = tunnel.connected
        else:
            tunnel.tls(sni="localhost", ca=proxy.ca)
            answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert answer is not None
    assert answer.status == BROKEN[handler][1]
    assert b"guard.failed" in answer.body
    assert b"sk_live" not in answer.body
    assert up.connections == 0
    sid = session if handler != "http_connect" else "system"
    denial = proxy.wait_for(sid, 1, "action.denied")[-1]
    assert denial.fields["error"] == "guard.failed"


@pytest.mark.parametrize(
    "broken", ["ghost_addons.delivery.open_reply", "ghost_addons.delivery.finish_reply"]
)
def test_a_handler_that_fails_on_the_reply_withholds_it(
    broken: str,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broken, explode)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b'{"a":1}')
    assert answer.status == 500
    assert b'"a"' not in answer.body
    outcome = proxy.wait_for(session, 1, "action.outcome")[-1]
    assert outcome.fields["status"] == "failed"
    assert outcome.fields["error"] == "guard.failed"
    assert "withheld" in outcome.fields["flags"]


def test_an_upstream_is_dialled_only_for_an_admitted_call(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca):
        pass
    assert up.connections == 0


def test_bytes_that_are_not_http_are_not_relayed(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        tunnel.send(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        tunnel.closed()
    assert up.connections == 0


def test_a_malformed_request_is_refused_and_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(
            b"POST /echo HTTP/1.1\r\nHost: " + up.authority.encode() + b"\r\n"
            b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        assert tunnel.answer().status == 400
    assert up.requests == ()
    assert proxy.wait_for(session, 1, "action.denied")[-1].fields["code"] == 400
