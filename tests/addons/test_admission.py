"""The order of a call: alive, judged, entered, and only then the secret."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ghost_ledger.commitment import check
from support.agent import secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.home import PLACEHOLDER, SECRET
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.upstream import Upstream

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


def test_a_read_whose_reply_a_gate_judges_has_entries(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook("demo_api_post.sh", "#!/bin/sh\ncat >/dev/null\nexit 1\n")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 403
    assert proxy.types(session) == ["session.spawn", "action.intent", "action.outcome"]
    assert proxy.last(session).fields["error"] == "hook.denied"


@pytest.mark.parametrize("chunked", [True, False])
def test_a_read_with_a_body_that_streams_passes_and_has_entries(
    chunked: bool, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    body, host = b"x" * 1_500_000, {"Host": up.authority}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        if chunked:
            tunnel.begin("GET", "/echo", {**host, "Transfer-Encoding": "chunked"})
            tunnel.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        else:
            tunnel.begin("GET", "/echo", host, body)
        assert tunnel.answer().status == 200
    assert up.requests[0].body == body
    assert proxy.types(session) == ["session.spawn", "action.intent", "action.outcome"]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_read_whose_reply_may_not_pass_is_entered_as_refused(
    method: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    up.route("/odd", lambda each: each.reply(999))
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request(method, "/odd", {"Host": up.authority})
    assert answer.status == 502
    denied = proxy.last(session)
    assert (denied.type, denied.fields["error"]) == ("action.denied", "reply.status")
    assert (denied.fields["code"], denied.fields["action"]) == (502, method)
    assert not proxy.proxy.engine.guard.busy


def test_with_record_all_reads_have_entries(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    with live_proxy(tmp_path, certs, up, proxy={"record": "all"}) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            tunnel.request("GET", "/echo", {"Host": up.authority})
        assert live.types(session) == ["session.spawn", "action.intent", "action.outcome"]


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


def test_a_client_that_waits_for_100_gets_it_and_its_body_arrives(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "Expect": "100-continue", "Content-Length": "2"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/status/200", headers)
        assert tunnel.reader.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        assert up.connections == 0
        tunnel.send(b"{}")
        assert tunnel.answer().status == 200
    (record,) = up.requests
    assert (record.body, record.header("expect")) == (b"{}", None)


def test_an_expectation_of_a_stream_is_met_here_and_neither_sent_nor_recorded(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    lines = [("Host", up.authority), ("Transfer-Encoding", "chunked")]
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/status/200", [*lines, *[("Expect", "100-continue")] * 2])
        assert tunnel.reader.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        tunnel.send(b"2\r\n{}\r\n0\r\n\r\n")
        assert tunnel.answer().status == 200
    intent = proxy.entries(session)[1]
    assert b"xpect" not in up.requests[0].head + proxy.payload(intent, "forwarded")


def test_a_chunked_upload_streams_where_no_rule_must_see_it(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "Transfer-Encoding": "chunked"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/status/200", headers)
        tunnel.send(b"6\r\nfirst\n\r\n")
        up.wait_until(lambda: up._body_bytes >= 6, "the first chunk")  # its lock is held
        tunnel.send(b"4\r\nlast\r\n0\r\n\r\n")
        assert tunnel.answer().status == 200
    assert up.requests[0].body == b"first\nlast"
    intent, outcome = proxy.entries(session)[1:3]
    assert (intent.fields["body"], outcome.fields["sent"]) == ("streamed", 10)


def ruled(folder: Path, certs: Certs, up: Upstream, **proxy: str):  # type: ignore[no-untyped-def]
    """A proxy whose tool checks bodies against a schema."""
    schema = folder / "write.json"
    schema.write_text('{"type": "object", "required": ["a"]}')
    write = {"method": "POST", "path": "/echo", "request_schema": str(schema)}
    tool = {"actions": {"write": write}}
    return live_proxy(folder, certs, up, tools={"demo_api": tool}, proxy=proxy)


def test_a_chunked_body_that_a_schema_must_see_is_held_and_sent_with_its_length(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with ruled(tmp_path, certs, up) as live:
        session = live.spawn("demo_api:write")
        headers = {"Host": up.authority, "Transfer-Encoding": "chunked", **POST}
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            tunnel.begin("POST", "/echo", headers)
            tunnel.send(b'7\r\n{"a":1}\r\n0\r\n\r\n')
            assert tunnel.answer().status == 200
            tunnel.begin("POST", "/echo", headers)
            tunnel.send(b'7\r\n{"b":1}\r\n0\r\n\r\n')
            assert tunnel.answer().status == 403
            fitting = tunnel.request("POST", "/echo", {"Host": up.authority, **POST}, b'{"a":1}')
            assert fitting.status == 200
            odd = tunnel.request("POST", "/echo", {"Host": up.authority, **POST}, b'{"b":1}')
            assert odd.status == 403
    assert len(up.requests) == 2


def test_a_body_beyond_the_limit_of_a_rule_is_too_large(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with ruled(tmp_path, certs, up, buffer_limit="1KB") as live:
        session = live.spawn("demo_api:write")
        body = b'{"a":"' + b"x" * 2000 + b'"}'
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("POST", "/echo", {"Host": up.authority, **POST}, body)
        assert (answer.status, b"body.too_large" in answer.body) == (413, True)
        assert live.last(session).fields["stage"] == "limit"
    assert up.connections == 0


def test_two_credentials_for_one_host_are_a_refusal(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    second = {"kind": "bearer", "secret": "env:NOWHERE", "hosts": [up.authority]}
    with live_proxy(tmp_path, certs, up, credentials={"second": second}) as live:
        session = live.spawn(f"POST {up.url}/**")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
        assert (answer.status, b"credential.ambiguous" in answer.body) == (403, True)
        assert live.last(session).fields["stage"] == "credential"
    assert up.connections == 0


def test_a_secret_of_a_command_is_waited_for(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    command = {"demo": {"secret": "cmd:printf from-a-command-4242"}}
    with live_proxy(tmp_path, certs, up, credentials=command) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert b"from-a-command" not in answer.body
    assert up.requests[0].header("authorization") == b"Bearer from-a-command-4242"


def test_a_session_that_ends_while_a_gate_thinks_sends_nothing(
    proxy: LiveProxy, session: LiveSession, up: Upstream, tmp_path: Path
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    proxy.home.hook(
        "demo_api_pre.sh",
        f"#!/bin/sh\ncat >/dev/null\ntouch {begun}\n"
        f"n=0; while [ ! -e {go} ] && [ $n -lt 250 ]; do sleep 0.02; n=$((n+1)); done\n",
    )
    answers: list[int] = []

    def call() -> None:
        with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
            answers.append(tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status)

    caller = threading.Thread(target=call)
    caller.start()
    until(begun.exists)
    live = proxy.proxy.services.sessions.get(session.sid)
    assert live is not None
    live.ending = True
    go.touch()
    caller.join(5)
    assert answers == [407]
    assert up.connections == 0


def test_a_tool_without_a_credential_gets_none(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    with live_proxy(tmp_path, certs, up, tools={"open_api": {"base_url": up.url}}) as live:
        session = live.spawn("open_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
        assert "credential" not in live.entries(session)[1].fields
    assert up.requests[0].header("authorization") is None


@pytest.mark.parametrize("framing", ["Content-Length: 14", "Transfer-Encoding: chunked"])
def test_a_form_cannot_name_another_method(
    framing: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    body = b"_method=DELETE"
    sent = b"e\r\n" + body + b"\r\n0\r\n\r\n" if "chunked" in framing else body
    head = (
        f"POST /echo HTTP/1.1\r\nHost: {up.authority}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\n{framing}\r\n\r\n"
    )
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.send(head.encode() + sent)
        assert tunnel.answer().status == 403
    assert up.requests == ()
