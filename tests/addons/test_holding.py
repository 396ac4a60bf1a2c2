"""Bodies of unknown length that a gate must see: held to the limit, then refused or streamed and flagged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mitmproxy.proxy.layers.http import HttpStream

from ghost_addons import holding
from ghost_core.errors import FailedError
from support.agent import Answer, secure_connect
from support.agent2 import Http2Client, StreamResetError
from support.certs import Certs
from support.exchange import Exchange
from support.http1 import Http1Exchange
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.upstream import Upstream

LIMIT = 20_000
ACTION: dict[str, Any] = {
    "method": "POST",
    "path": "/*",
    "request_schema": {"type": "object"},
    "response_schema": {"type": "object", "required": ["id"]},
}


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    tool: dict[str, Any] = {"actions": {"write": ACTION}}
    limit = {"buffer_limit": f"{LIMIT}B"}
    with live_proxy(tmp_path, certs, up, tools={"demo_api": tool}, proxy=limit) as proxy:
        yield proxy


def in_chunks(*pieces: bytes, media: str = "application/json") -> Any:
    def reply(exchange: Exchange) -> None:
        assert isinstance(exchange, Http1Exchange)
        exchange.start(200, [("Content-Type", media)])
        for piece in pieces:
            exchange.send(piece)
        exchange.raw(b"0\r\n\r\n")

    return reply


def asked(live: LiveProxy, session: LiveSession, up: Upstream) -> Answer:
    headers = {"Host": up.authority, "Content-Type": "application/json"}
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", "/chunked", headers, b"{}")


@pytest.mark.parametrize(
    ("pieces", "status"), [((b'{"id"', b":1}"), 200), ((b'{"private"', b":1}"), 502)]
)
def test_a_chunked_reply_is_judged_as_a_whole(
    live: LiveProxy, up: Upstream, pieces: tuple[bytes, ...], status: int
) -> None:
    up.route("/chunked", in_chunks(*pieces))
    session = live.spawn("demo_api")
    answer = asked(live, session, up)
    assert answer.status == status
    assert (answer.body == b"".join(pieces)) is (status == 200)
    outcome = live.last(session).fields
    assert outcome.get("flags") == (None if status == 200 else ["withheld"])
    assert outcome.get("error") == (None if status == 200 else "schema.mismatch")


@pytest.mark.parametrize("size", [LIMIT, LIMIT + 1])
def test_a_reply_beyond_the_limit_streams_and_is_flagged(
    live: LiveProxy, up: Upstream, size: int
) -> None:
    body = b'{"id":"' + b"x" * (size - 9) + b'"}'
    half = len(body) // 2
    up.route("/chunked", in_chunks(body[:half], body[half:]))
    session = live.spawn("demo_api")
    answer = asked(live, session, up)
    assert (answer.status, answer.body) == (200, body)
    (outcome,) = live.wait_for(session, 1, "action.outcome")
    assert outcome.fields["received"] == len(body)
    verdicts: Any = outcome.fields["verdicts"]
    assert [each["verdict"] for each in verdicts] == ["allow" if size == LIMIT else "flag"]


def test_a_live_stream_is_not_held_for_a_schema(live: LiveProxy, up: Upstream) -> None:
    up.route("/chunked", in_chunks(b"data: 1\n\n", media="text/event-stream"))
    session = live.spawn("demo_api")
    assert asked(live, session, up).body == b"data: 1\n\n"
    (outcome,) = live.wait_for(session, 1, "action.outcome")
    verdicts: Any = outcome.fields["verdicts"]
    assert [each["verdict"] for each in verdicts] == ["flag"]


@pytest.mark.parametrize(("size", "status"), [(LIMIT, 403), (LIMIT + 1, 413)])
def test_a_chunked_request_is_held_up_to_the_limit_and_refused_beyond(
    live: LiveProxy, up: Upstream, size: int, status: int
) -> None:
    session = live.spawn("demo_api")
    body = b'["' + b"x" * (size - 4) + b'"]'
    headers = {
        "Host": up.authority,
        "Content-Type": "application/json",
        "Transfer-Encoding": "chunked",
    }
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        tunnel.begin("POST", "/echo", headers)
        tunnel.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        assert tunnel.answer().status == status
    assert up.requests == ()
    (denied,) = live.wait_for(session, 1, "action.denied")
    assert denied.fields["code"] == status
    assert (denied.fields["tool"], denied.fields["action"]) == ("demo_api", "write")


def test_a_body_over_http_2_without_a_length_is_judged_and_sent_with_one(
    live: LiveProxy, up: Upstream
) -> None:
    up.route("/h2", lambda exchange: exchange.reply(200, b'{"id":1}', _JSON))
    session = live.spawn("demo_api")
    headers = [("content-type", "application/json")]
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)) as tunnel:
        client = Http2Client(tunnel)
        assert client.request("POST", "/h2", up.authority, headers, b"[]").status == 403
        assert client.request("POST", "/h2", up.authority, headers, b'{"a":1}').status == 200
    (record,) = up.requests
    assert record.body == b'{"a":1}'


_JSON = [("Content-Type", "application/json")]


def test_installing_twice_wraps_once() -> None:
    holding.install()
    before = HttpStream.state_consume_response_body
    holding.install()
    assert HttpStream.state_consume_response_body == before


def test_an_engine_without_the_step_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(HttpStream, "state_consume_response_body")
    with pytest.raises(FailedError) as caught:
        holding.install()
    assert caught.value.code == "proxy.engine"


@pytest.mark.parametrize("lengths", [("5",), ("+0",), ("0", "0")])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_that_ends_before_its_length_is_refused(
    method: str, lengths: tuple[str, ...], proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn(f"GET,POST {up.url}/echo")
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        client = Http2Client(tunnel)
        answer = client.request(
            method, "/echo", up.authority, [("content-length", each) for each in lengths]
        )
        assert (answer.status, b"request.malformed" in answer.body) == (400, True)
    assert up.requests == ()


def test_a_streamed_request_that_ends_before_its_length_takes_nothing_of_the_next(
    proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn(f"POST {up.url}/echo")
    with (
        secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)) as tunnel,
        suppress(OSError, StreamResetError),
    ):
        client = Http2Client(tunnel)
        short = client.begin("POST", "/echo", up.authority, [("content-length", "2000000")])
        client.begin("POST", "/echo", up.authority, [], b"hidden")
        client.answer(short)
    assert all(b"POST" not in each.body for each in up.requests)
    until(lambda: "failed" in {each.fields.get("status") for each in proxy.entries(session)})
