"""The order of a call: alive, judged, entered, and only then the secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.agent import raw_connect, secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.home import PLACEHOLDER, SECRET
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

from ghost_ledger.commitment import check

POST = {"Content-Type": "application/json"}


def test_the_real_secret_reaches_the_upstream_exactly_once(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {
        "Host": up.authority,
        "Authorization": f"Bearer {PLACEHOLDER}",
        "Cookie": "mine=1",
        "X-Api-Key": "mine",
        "X-Ghost-Token": session.token,
        "Proxy-Connection": "keep-alive",
        "Connection": "close, X-Secret-Hop",
        "X-Secret-Hop": "1",
    }
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/status/200", headers, b"{}").status == 200
    (record,) = up.requests
    assert record.all("authorization") == (f"Bearer {SECRET}".encode(),)
    for gone in ("cookie", "x-api-key", "proxy-connection", "x-secret-hop", "proxy-authorization"):
        assert record.header(gone) is None
    (token,) = record.all("x-ghost-token")
    assert token.startswith(b"ghwire_")


def test_no_record_holds_what_the_wire_held(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "Authorization": "Bearer of-the-agent", **POST}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("POST", "/echo", headers, b'{"amount":7}')
    intent, outcome = proxy.entries(session)[1:3]
    sent, forwarded = proxy.payload(intent, "params"), proxy.payload(intent, "forwarded")
    assert sent.endswith(b'\r\n\r\n{"amount":7}')
    assert b"Authorization: [withheld]" in sent
    assert b"authorization: Bearer [credential demo]" in forwarded
    for text in (sent, forwarded, proxy.payload(outcome, "response")):
        assert SECRET.encode() not in text
        assert b"of-the-agent" not in text
        assert session.token.encode() not in text


def test_the_intent_commits_to_the_request_and_the_outcome_to_the_reply(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/status/201", {"Host": up.authority, **POST}, b"{}")
    intent, outcome = proxy.entries(session)[1:3]
    ledger = proxy.proxy.services.ledger
    kept = {(each.seq, each.field): each for each in ledger.disclosures(session.sid)}
    for found, field in ((intent, "params"), (intent, "forwarded"), (outcome, "response")):
        disclosed = kept[found.seq, field]
        assert check(field, disclosed.salt, disclosed.data, str(found.fields[field]))
    assert outcome.fields["http_status"] == answer.status == 201
    assert outcome.fields["status"] == "executed"
    assert outcome.fields["peer"] == f"127.0.0.1:{up.port}"


def test_the_intent_is_in_the_ledger_before_the_upstream_hears_of_it(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    seen: list[list[str]] = []

    def look(exchange: Exchange) -> None:
        seen.append(proxy.types(session))
        exchange.reply(200, b"ok")

    up.route("/look", look)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("POST", "/look", {"Host": up.authority}, b"{}")
        assert proxy.types(session)[-1] == "action.outcome"
    assert seen == [["session.spawn", "action.intent"]]


def test_an_allowed_read_has_no_entry_but_is_counted(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("GET", "/echo", {"Host": up.authority})
        tunnel.request("HEAD", "/echo", {"Host": up.authority})
    assert proxy.types(session) == ["session.spawn"]
    proxy.evaporate(session)
    closed = next(each for each in proxy.entries(session) if each.type == "session.closed")
    assert closed.fields["reads"] == 2


def test_with_record_all_reads_have_entries(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    with live_proxy(tmp_path, certs, up, proxy={"record": "all"}) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            tunnel.request("GET", "/echo", {"Host": up.authority})
        assert live.types(session) == ["session.spawn", "action.intent", "action.outcome"]


def test_a_method_outside_the_scope_is_refused_with_a_way_to_allow_it(
    proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn(f"GET {up.url}/**")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("DELETE", "/echo", {"Host": up.authority})
    assert answer.status == 403
    assert b"scope.action" in answer.body
    assert b"ghost spawn --scope" in answer.body
    assert up.requests == ()
    assert proxy.last(session).fields["code"] == 403


@pytest.mark.parametrize(
    "path",
    ["/public/../admin", "/public/%2e%2e/admin", "/public/..%2fadmin", "//admin", "/public\\..\\x"],
)
def test_a_path_with_two_readings_is_refused(
    path: str, proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn(f"GET {up.url}/public/**")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", path, {"Host": up.authority}).status in (400, 403)
    assert up.requests == ()


def test_the_path_that_is_judged_is_the_path_that_is_sent(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("GET", "/echo/%7euser/a%2fb?q=%7e", {"Host": up.authority})
    assert up.requests[0].target == b"/echo/~user/a%2Fb?q=%7e"


def test_equal_refusals_within_a_second_share_an_entry_with_a_count(
    proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn(f"GET {up.url}/**")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        for _ in range(5):
            tunnel.request("DELETE", "/echo", {"Host": up.authority})
    first, rest = proxy.wait_for(session, 2, "action.denied")
    assert "count" not in first.fields
    assert rest.fields["count"] == 4


def test_a_missing_secret_is_a_denial_and_nothing_is_sent(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    (proxy.home.root / "demo.secret").unlink()
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert answer.status == 500
    assert b"demo.secret" not in answer.body
    assert proxy.last(session).fields["stage"] == "credential"
    assert up.connections == 0


def test_the_stand_in_of_a_credential_goes_nowhere_else(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with Upstream(certs) as other:
        allowed = {"allow_private": [up.authority, other.authority]}
        with live_proxy(tmp_path, certs, up, proxy=allowed) as live:
            session = live.spawn(f"POST {other.url}/**")
            with secure_connect(live.port, other.authority, session.auth, ca=live.ca) as tunnel:
                headers = {"Host": other.authority, "X-Key": PLACEHOLDER}
                answer = tunnel.request("POST", "/echo", headers, b"{}")
        assert answer.status == 403
        assert b"credential.stray" in answer.body
        assert other.requests == ()


def test_a_broken_configuration_refuses_every_request(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
        proxy.home.append("[proxy.oops]\nx = 1")
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 500
    assert len(up.requests) == 1


def test_a_pre_hook_that_refuses_keeps_the_call_from_the_upstream(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_pre.sh", "#!/bin/sh\ncat >/dev/null\nexit 3\n")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert answer.status == 403
    assert up.connections == 0
    verdict = proxy.last(session).fields["verdicts"][-1]
    assert verdict["exit"] == 3
    assert len(verdict["hash"]) == 64


def test_a_large_upload_streams_and_both_commitments_are_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    body = b"x" * 3_000_000
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/status/200", {"Host": up.authority}, body).status == 200
    assert len(up.requests[0].body) == len(body)
    intent, outcome = proxy.entries(session)[1:3]
    assert intent.fields["body"] == "streamed"
    assert "size" not in intent.fields
    assert outcome.fields["sent"] == len(body)
    assert len(outcome.fields["request_body"]) == 64


def test_an_ended_session_is_refused_on_an_open_connection(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("GET", "/echo", {"Host": up.authority})
        proxy.evaporate(session)
        assert tunnel.closed()
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        assert tunnel.status == 407
    assert len(up.requests) == 1
