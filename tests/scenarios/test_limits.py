"""Limits over the wire: counted per session and action, across owners, never given out twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghost_addons.session import LiveSession as Owned
from ghost_core.errors import UnavailableError
from support import fixtures
from support.agent import Answer, secure_connect
from support.board import scenario
from support.certs import Certs
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

pytestmark = scenario(
    "call-limits",
    1,
    "calls beyond the limits of a session: at once, failed, and under the next owner",
)

ACTIONS: dict[str, Any] = {
    "twice": {"method": "POST", "path": "/status/200", "limits": {"calls": 2}},
    "small": {"method": "POST", "path": "/status/201", "limits": {"bytes": "10B"}},
    "pay": {
        "method": "POST",
        "path": "/status/202",
        "limits": {"sum": {"field": "amount", "max": 5}},
    },
    "slow": {"method": "POST", "path": "/slow", "limits": {"calls": 1}},
    "read": {"method": "GET", "path": "/echo", "params": "query", "limits": {"calls": 1}},
}

up = fixtures.upstream("function")


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    with live_proxy(tmp_path, certs, up, tools={"demo_api": {"actions": ACTIONS}}) as proxy:
        yield proxy


def sent(
    live: LiveProxy, session: LiveSession, up: Upstream, path: str, body: bytes = b"{}"
) -> Answer:
    headers = {"Host": up.authority, "Content-Type": "application/json"}
    method = "POST" if body else "GET"
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        return tunnel.request(method, path, headers, body)


def error(answer: Answer) -> dict[str, str]:
    found: dict[str, str] = json.loads(answer.body)["error"]
    return found


def test_the_call_beyond_the_limit_is_refused_and_entered(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    answers = [sent(live, session, up, "/status/200") for _ in range(3)]
    assert [each.status for each in answers] == [200, 200, 429]
    assert error(answers[2])["code"] == "limit.calls"
    assert "limits.calls of demo_api:twice" in error(answers[2])["hint"]
    assert len(up.requests) == 2
    denied = live.last(session)
    assert (denied.type, denied.fields["code"]) == ("action.denied", 429)
    assert (denied.fields["error"], denied.fields["stage"]) == ("limit.calls", "limit")


@pytest.mark.parametrize(
    ("path", "first", "second", "code", "counted"),
    [
        ("/status/201", b"123456", b"12345", "limit.bytes", {"bytes": 6}),
        (
            "/status/202",
            b'{"amount":4.5}',
            b'{"amount":0.51}',
            "limit.sum",
            {"bytes": 14, "sum": "4.5"},
        ),
    ],
)
def test_bytes_and_sums_are_limited_and_signed_into_the_intent(
    *,
    live: LiveProxy,
    up: Upstream,
    path: str,
    first: bytes,
    second: bytes,
    code: str,
    counted: object,
) -> None:
    session = live.spawn("demo_api")
    assert sent(live, session, up, path, first).status < 300
    refused = sent(live, session, up, path, second)
    assert (refused.status, error(refused)["code"]) == (429, code)
    intent = next(each for each in live.entries(session) if each.type == "action.intent")
    assert intent.fields["counted"] == counted


def test_a_limited_read_is_entered_and_counted(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    assert [sent(live, session, up, "/echo", b"").status for _ in range(2)] == [200, 429]
    assert live.types(session)[1] == "action.intent"


def test_every_session_has_a_count_of_its_own(live: LiveProxy, up: Upstream) -> None:
    for _ in range(2):
        session = live.spawn("demo_api")
        assert sent(live, session, up, "/echo", b"").status == 200


def test_a_failed_call_counts(live: LiveProxy, up: Upstream) -> None:
    up.route("/status/200", lambda _: up.drop_connections())
    session = live.spawn("demo_api")
    assert [sent(live, session, up, "/status/200").status for _ in range(3)] == [502, 502, 429]


def test_the_next_owner_goes_on_counting(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    assert sent(live, session, up, "/status/202", b'{"amount":5}').status == 202
    live.stop()
    again = LiveProxy(live.home, live.clock)
    again.start()
    try:
        refused = sent(again, session, up, "/status/202", b'{"amount":0.01}')
        assert (refused.status, error(refused)["code"]) == (429, "limit.sum")
        assert sent(again, session, up, "/status/202", b'{"amount":0}').status == 202
    finally:
        again.stop()


def test_calls_at_once_never_share_the_last_unit(live: LiveProxy, up: Upstream) -> None:
    live.home.hook("demo_api_slow_pre.sh", "#!/bin/sh\ncat >/dev/null\nsleep 0.2\n")
    up.route("/slow", lambda exchange: exchange.reply(200, b"ok"))
    session = live.spawn("demo_api")
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(sent(live, session, up, "/slow").status))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(found) == [200, 429, 429, 429, 429, 429]
    assert len(up.requests) == 1


def test_a_call_that_a_later_gate_refuses_gives_its_unit_back(
    live: LiveProxy, up: Upstream
) -> None:
    hook = live.home.hook("demo_api_slow_pre.sh", "#!/bin/sh\nexit 1\n")
    up.route("/slow", lambda exchange: exchange.reply(200, b"ok"))
    session = live.spawn("demo_api")
    assert sent(live, session, up, "/slow").status == 403
    hook.unlink()
    assert sent(live, session, up, "/slow").status == 200


def test_an_intent_that_cannot_be_entered_gives_its_unit_back(
    live: LiveProxy, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = live.spawn("demo_api")
    account = live.do(_admitted(live, session)).account
    recorder = live.proxy.services.recorder
    patient = type(recorder).enter

    def broken(self: object, *drafts: Any) -> Any:
        if any(draft.type == "action.intent" for draft in drafts):
            raise UnavailableError("full", code="ledger.unwritable")
        return patient(self, *drafts)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(type(recorder), "enter", broken)
        assert sent(live, session, up, "/status/200").status == 503
    assert account.used(("demo_api", "twice")).calls == 0


async def _admitted(live: LiveProxy, session: LiveSession) -> Owned:
    return live.proxy.admit(session.sid)


def test_act_is_limited_too(live: LiveProxy) -> None:
    session = live.spawn("demo_api")

    async def work() -> dict[str, object]:
        request: dict[str, object] = {"tool": "demo_api", "action": "pay", "params": {"amount": 3}}
        return await live.proxy.act(live.proxy.admit(session.sid), request)

    assert live.do(work())["status"] == "executed"
    document: Any = live.do(work())
    assert document["status"] == "denied"
    assert document["error"]["code"] == "limit.sum"


def test_a_limit_that_comes_later_counts_what_was_before(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    actions = {"twice": {"method": "POST", "path": "/status/200"}}
    with live_proxy(tmp_path, certs, up, tools={"demo_api": {"actions": actions}}) as live:
        session = live.spawn("demo_api")
        assert sent(live, session, up, "/status/200").status == 200
        live.home.append("[tools.demo_api.actions.twice.limits]\ncalls = 1")
        assert sent(live, session, up, "/status/200").status == 429


def test_a_body_of_unknown_length_is_counted_too(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    headers = {"Host": up.authority, "Transfer-Encoding": "chunked"}
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        tunnel.begin("POST", "/status/201", headers)
        tunnel.send(b"b\r\nhello world\r\n0\r\n\r\n")
        assert tunnel.answer("POST").status == 429
    assert up.requests == ()


@scenario(
    "field-spelling",
    1,
    "a summed field in a second spelling or place that many servers take for the same",
)
@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("", {"amount": 1, "Amount": 900}),
        ("", {"amount": 1, " amount": 900}),
        ("", {"amount": 1, "amount[]": 900}),
        ("?amount=900", {"amount": 1}),
        ("?AMOUNT%5B%5D=900", {"amount": 1}),
    ],
)
def test_a_sum_reads_a_field_in_one_spelling(
    live: LiveProxy, up: Upstream, query: str, body: dict[str, int]
) -> None:
    session = live.spawn("demo_api")
    refused = sent(live, session, up, f"/status/202{query}", json.dumps(body).encode())
    assert (refused.status, error(refused)["code"]) == (400, "params.spelling")
    assert "once, spelled exactly so" in error(refused)["hint"]
    assert up.requests == ()
    assert live.last(session).fields["error"] == "params.spelling"


@scenario(
    "field-spelling",
    1,
    "a summed field in a second spelling or place that many servers take for the same",
)
def test_where_nothing_reads_a_field_its_spelling_is_free(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    body = b'{"amount":1,"Amount":2}'
    assert sent(live, session, up, "/status/200?amount=3", body).status == 200
    assert sent(live, session, up, "/status/202?a=3", b'{"amount":1,"a":4,"A":5}').status == 202


@scenario(
    "content-type-twice", 1, "a content type that says two things, where a gate reads the body"
)
@pytest.mark.parametrize(
    "kind",
    [
        "application/json; charset=utf-8; charset=utf-16",
        "application/json; charset=utf-16; Charset=utf-8",
        "application/json; boundary=a; boundary=b",
        "application/json, text/plain",
    ],
)
def test_a_body_whose_type_says_two_things_is_refused(
    live: LiveProxy, up: Upstream, kind: str
) -> None:
    session = live.spawn("demo_api")
    headers = {"Host": up.authority, "Content-Type": kind}
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        refused = tunnel.request("POST", "/status/202", headers, b'{"amount":1}')
    assert (refused.status, error(refused)["code"]) == (415, "params.encoding")
    assert up.requests == ()
