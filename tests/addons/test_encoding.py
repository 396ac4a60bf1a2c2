"""Encoded request bodies: judged and sent decoded, refused where they cannot be read in one way."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import pytest

from ghost_credentials.codings import zstd
from support.agent import Answer, secure_connect
from support.certs import Certs
from support.live import LiveProxy, LiveSession, live_proxy
from support.packed import gzipped
from support.upstream import Upstream

RULE = '[[rules]]\ndeny = { tool = "demo_api", when = "amount > 5" }'
GOOD, BAD = b'{"amount":5}', b'{"amount":6}'
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzipped,
    "X-Gzip": gzipped,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    with live_proxy(tmp_path, certs, up, proxy={"buffer_limit": "2MB"}) as proxy:
        proxy.home.append(RULE)
        yield proxy


def post(
    live: LiveProxy, session: LiveSession, up: Upstream, body: bytes, coding: str, **more: str
) -> Answer:
    headers = {"Host": up.authority, "Content-Encoding": coding} | {
        "Content-Type": more.get("media", "application/json")
    }
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", "/status/200", headers, body)


def code(answer: Answer) -> str:
    return str(json.loads(answer.body)["error"]["code"])


@pytest.mark.parametrize("coding", CODINGS)
def test_an_encoded_body_is_judged_and_sent_decoded(
    live: LiveProxy, up: Upstream, coding: str
) -> None:
    session = live.spawn("demo_api")
    assert post(live, session, up, CODINGS[coding](GOOD), coding).status == 200
    refused = post(live, session, up, CODINGS[coding](BAD), coding)
    assert (refused.status, code(refused)) == (403, "rule.denied")
    (record,) = up.requests
    assert record.body == GOOD
    assert record.all("content-length") == (b"12",)
    assert record.header("content-encoding") is None
    intent = next(each for each in live.entries(session) if each.type == "action.intent")
    assert live.payload(intent, "params").endswith(GOOD)
    assert intent.fields["size"] == len(GOOD)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("compress", b"x"),
        ("gzip, gzip", gzipped(gzipped(GOOD))),
        ("gzip", b"no gzip"),
        ("gzip", gzipped(GOOD)[:-4]),
        ("gzip", gzipped(GOOD) + gzipped(b" ")),
        ("gzip", gzipped(GOOD) + b"tail"),
        ("zstd", zstd.compress(GOOD) * 2),
        ("deflate", zlib.compress(GOOD, wbits=-15)),
        ("gzip", gzipped(b"0" * 2_000_001)),
        ("br", brotli.compress(b"0" * 1_500_000)),
    ],
)
def test_a_body_that_cannot_be_read_in_one_way_is_refused_and_entered(
    live: LiveProxy, up: Upstream, coding: str, body: bytes
) -> None:
    session = live.spawn("demo_api")
    answer = post(live, session, up, body, coding)
    assert (answer.status, code(answer)) == (415, "params.encoding")
    denied = live.last(session)
    assert (denied.type, denied.fields["code"]) == ("action.denied", 415)
    assert denied.fields["stage"] == "schema"
    assert up.requests == ()


def test_a_large_body_is_decoded_as_well(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    noise = "".join(f"{number:x}" for number in range(200_000))
    body = gzipped(json.dumps({"amount": 6, "noise": noise}).encode())
    assert len(body) > 100_000
    assert post(live, session, up, body, "gzip").status == 403


FORM, PARTS = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--b--\r\n'


@pytest.mark.parametrize(
    ("media", "body"), [(FORM, b"_method=DELETE"), (PARTS, PART), ("", b"_method=DELETE")]
)
def test_a_form_cannot_hide_another_method_behind_a_coding(
    media: str, body: bytes, proxy: LiveProxy, up: Upstream
) -> None:
    answer = post(proxy, proxy.spawn("demo_api"), up, gzipped(body), "gzip", media=media)
    assert (answer.status, code(answer)) == (403, "request.method_override")


def test_what_a_server_would_read_that_decodes_nothing_is_not_sent(
    proxy: LiveProxy, up: Upstream
) -> None:
    plain = gzipped(b"a=1")
    comment = bytes([*plain[:3], 0x10, *plain[4:10]]) + b"&_method=DELETE&\0"  # RFC 1952 §2.3
    body, auth = comment + plain[10:], proxy.spawn("demo_api").auth
    lines = {"Host": up.authority, "Content-Type": FORM, "Content-Encoding": "gzip"}
    with secure_connect(proxy.port, up.authority, auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/status/200", lines, body).status == 200
        lines["Connection"] = "Content-Encoding"  # then it is not coded, for nobody
        assert tunnel.request("POST", "/status/200", lines, body).status == 403
    (record,) = up.requests
    assert record.body == b"a=1"
    assert record.header("content-encoding") is None


@pytest.mark.parametrize(("media", "body"), [(PARTS, PART), ("", b"_method=DELETE")])
def test_a_coded_form_that_would_stream_is_refused(
    media: str, body: bytes, proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn("demo_api")
    lines = {"Host": up.authority, "Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}
    lines |= {"Content-Type": media} if media else {}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        coded = gzipped(body)
        tunnel.begin("POST", "/status/200", lines)
        tunnel.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(coded), coded))
        answer = tunnel.answer()
    assert (answer.status, code(answer)) == (415, "params.encoding")
    assert proxy.last(session).fields["error"] == "params.encoding"
    assert up.connections == 0


def test_a_body_that_no_gate_reads_passes_in_any_coding(proxy: LiveProxy, up: Upstream) -> None:
    answer = post(proxy, proxy.spawn("demo_api"), up, b"anything", "private", media="text/plain")
    assert answer.status == 200
    assert up.requests[-1].body == b"anything"


def test_a_hook_reads_what_was_decoded(live: LiveProxy, up: Upstream) -> None:
    live.home.hook(
        "demo_api_pre.py",
        "import json\n"
        "def validate(request):\n"
        "    assert json.loads(request['body']) == {'amount': 5}, request['body']\n"
        "    assert 'content-encoding' not in request['headers']\n"
        "    assert request['headers']['content-length'] == '12'\n",
    )
    session = live.spawn("demo_api")
    assert post(live, session, up, gzipped(GOOD), "gzip").status == 200


def test_a_secret_behind_a_coding_is_refused(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api")
    body = gzipped(json.dumps({"amount": 1, "key": live.home.secret}).encode())
    assert post(live, session, up, body, "gzip").status == 403
    assert live.last(session).fields["error"] == "credential.leaked"
    assert up.connections == 0


def test_a_short_secret_behind_a_coding_does_not_get_into_the_record(
    live: LiveProxy, up: Upstream
) -> None:
    (live.home.root / "demo.secret").write_text("pin-424")  # too short to be refused
    session = live.spawn("demo_api")
    body = gzipped(json.dumps({"amount": 1, "key": "pin-424"}).encode())
    assert post(live, session, up, body, "gzip").status == 200
    intent = next(each for each in live.entries(session) if each.type == "action.intent")
    kept = live.payload(intent, "params")
    assert body not in kept
    assert b"pin-424" not in kept
    assert b"[redacted by ghost]" in kept
