"""One POST to a receiver, over real sockets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core.errors import ConfigError, DeniedError, FailedError, GhostError
from ghost_core.settings import Settings
from ghost_hooks.posting import REPLY_LIMIT, Poster
from support.certs import Certs
from support.exchange import Exchange
from support.processes import free_port
from support.upstream import Upstream


@pytest.fixture
def ops(certs: Certs) -> Iterator[Upstream]:
    with Upstream(certs) as receiver:
        yield receiver


def poster(ops: Upstream, certs: Certs, *, seconds: float = 5.0) -> Poster:
    return Poster((ops.authority,), certs.ca, seconds)


def code_of(made: Poster, url: str, *, stop: threading.Event | None = None) -> str:
    with pytest.raises(GhostError) as caught:
        made.post(url, b"{}", {}, stop=stop)
    return caught.value.code


def test_the_body_and_the_headers_arrive_as_they_are(ops: Upstream, certs: Certs) -> None:
    headers = {"Content-Type": "application/json", "webhook-id": "act_1"}
    answer = poster(ops, certs).post(f"{ops.url}/echo?a=1", b'{"b": 2}', headers)
    (record,) = ops.requests
    assert (record.method, record.target, record.body) == (b"POST", b"/echo?a=1", b'{"b": 2}')
    assert record.header("host") == ops.authority.encode()
    assert record.header("webhook-id") == b"act_1"
    assert (answer.status, answer.over) == (200, False)


def test_variables_of_a_proxy_take_no_part(
    ops: Upstream, certs: Certs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://localhost:{free_port()}")
    assert poster(ops, certs).post(f"{ops.url}/echo", b"", {}).status == 200


def test_plain_http_goes_to_a_named_private_place_only(certs: Certs) -> None:
    with Upstream() as ops:
        assert poster(ops, certs).post(f"{ops.url}/echo", b"", {}).status == 200
        assert code_of(Poster((), None, 5.0), f"{ops.url}/echo") == "webhook.plain"
        assert len(ops.requests) == 1


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://user:pass@ops.example/", "target.host"),
        ("ftp://ops.example/", "target.scheme"),
        ("https://169.254.169.254/latest", "target.address"),
        ("https://10.0.0.1/", "target.address"),
        ("https://[::1]/", "target.address"),
    ],
)
def test_where_nobody_may_go_nothing_is_dialled(url: str, code: str) -> None:
    assert code_of(Poster((), None, 5.0), url) == code


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://169.254.169.254/latest", "target.address"),
        ("https://10.0.0.1/", "target.address"),
        ("https://127.0.0.1:8443/", "target.address"),
        ("https://[::1]/", "target.address"),
        ("https://[fe80::1]/", "target.address"),
        ("https://[fd00:ec2::254]/", "target.address"),
        ("https://[64:ff9b::a9fe:a9fe]/", "target.address"),
        ("https://[::ffff:169.254.169.254]/", "target.host"),
        ("https://[::ffff:a9fe:a9fe]/", "target.host"),
        ("https://2852039166/", "target.host"),
        ("https://0xa9fea9fe/", "target.host"),
        ("https://0251.0376.0251.0376/", "target.host"),
        ("https://169.254.43518/", "target.host"),
    ],
)
def test_an_address_that_may_not_be_dialled_is_refused_before_anything_is_sent(
    url: str, code: str
) -> None:
    named = ("169.254.169.254", "169.254.169.254:443")  # opens private places, and no such address
    with pytest.raises(DeniedError) as caught:
        Poster(named, None, 5.0).require_reachable(url)
    assert caught.value.code == code


def test_a_named_private_address_is_reachable() -> None:
    for named, url in (("10.0.0.1", "https://10.0.0.1/"), ("[::1]:8443", "https://[::1]:8443/")):
        assert Poster((named,), None, 5.0).require_reachable(url).url == url


def test_a_name_without_an_address_is_told(ops: Upstream, certs: Certs) -> None:
    assert code_of(Poster((), None, 5.0), "https://no-such-host.invalid/") == "target.unresolved"


def test_a_redirect_is_an_answer(ops: Upstream, certs: Certs) -> None:
    answer = poster(ops, certs).post(f"{ops.url}/redirect?to={ops.url}/echo", b"", {})
    assert answer.status == 302
    assert len(ops.requests) == 1


def test_a_long_answer_is_cut(ops: Upstream, certs: Certs) -> None:
    answer = poster(ops, certs).post(f"{ops.url}/bytes/{REPLY_LIMIT + 1}", b"", {})
    assert (len(answer.body), answer.over) == (REPLY_LIMIT, True)
    assert not poster(ops, certs).post(f"{ops.url}/bytes/{REPLY_LIMIT}", b"", {}).over


def test_a_caller_may_take_a_longer_or_a_shorter_reply(ops: Upstream, certs: Certs) -> None:
    url = f"{ops.url}/bytes/{REPLY_LIMIT + 1}"
    longer = poster(ops, certs).post(url, b"", {}, reply_limit=REPLY_LIMIT + 1)
    assert (len(longer.body), longer.over) == (REPLY_LIMIT + 1, False)
    shorter = poster(ops, certs).post(url, b"", {}, reply_limit=10)
    assert (len(shorter.body), shorter.over) == (10, True)


def test_seconds_to_wait_are_read_and_nothing_else(ops: Upstream, certs: Certs) -> None:
    for value, read in (("7", 7.0), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None)):
        ops.route("/later", lambda each, v=value: each.reply(503, b"", [("Retry-After", v)]))
        assert poster(ops, certs).post(f"{ops.url}/later", b"", {}).retry_after == read


def test_a_certificate_that_nobody_vouches_for_ends_it(ops: Upstream, certs: Certs) -> None:
    assert code_of(Poster((ops.authority,), None, 5.0), ops.url) == "webhook.tls"
    assert ops.requests == ()


def test_a_status_that_is_none_is_no_answer(ops: Upstream, certs: Certs) -> None:
    ops.route("/odd", lambda each: each.reply(999, b""))
    assert code_of(poster(ops, certs), f"{ops.url}/odd") == "webhook.unreachable"


def test_nobody_there_and_nobody_who_stays_are_the_same(ops: Upstream, certs: Certs) -> None:
    port = free_port()
    nobody = Poster((f"localhost:{port}",), certs.ca, 5.0)
    assert code_of(nobody, f"https://localhost:{port}/") == "webhook.unreachable"
    assert code_of(poster(ops, certs), f"{ops.url}/close") == "webhook.unreachable"


def drip(exchange: Exchange) -> None:
    exchange.start(200, [("Content-Type", "text/plain")])
    for _ in range(400):
        exchange.send(b"x")
        exchange.pause(0.05)


@pytest.mark.parametrize("path", ["/slow?ms=30000", "/drip"])
def test_the_deadline_is_over_all_of_it(ops: Upstream, certs: Certs, path: str) -> None:
    ops.route("/drip", drip)
    started = time.monotonic()
    assert code_of(poster(ops, certs, seconds=0.4), f"{ops.url}{path}") == "webhook.timeout"
    assert time.monotonic() - started < 10  # it would take 30 s, or drip for 20


def test_whoever_waits_can_be_told_to_stop(ops: Upstream, certs: Certs) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    started = time.monotonic()
    url = f"{ops.url}/slow?ms=30000"
    assert code_of(poster(ops, certs, seconds=30), url, stop=stop) == "webhook.timeout"
    assert time.monotonic() - started < 10  # it would take 30 s, or drip for 20


def test_roots_that_cannot_be_read_are_a_wrong_setting(ops: Upstream, tmp_path: Path) -> None:
    made = Poster((ops.authority,), tmp_path / "none.pem", 5.0)
    with pytest.raises(ConfigError):
        made.post(ops.url, b"", {})


def test_the_settings_say_how_receivers_are_reached() -> None:
    settings = Settings(proxy={"allow_private": ["localhost:1"]}, hooks={"timeout_seconds": 3})  # type: ignore[arg-type]
    assert Poster.of(settings) == Poster(("localhost:1",), None, 3.0)


def test_errors_say_what_a_caller_can_do() -> None:
    with pytest.raises(DeniedError):
        Poster((), None, 5.0).require_reachable("http://ops.example/")
    assert issubclass(FailedError, GhostError)
