"""What an upstream may say of a secret: in any form, split, compressed, at any place of its answer.

The agent's bytes and every file of the home hold none of it. The forms are written here by other code
than the one that looks for them.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import fixtures
from support.agent import Answer, secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.files import contents
from support.home import SECRET
from support.live import LiveProxy, live_proxy
from support.upstream import Upstream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MARK = b"[redacted by ghost]"
EVENTS = ("Content-Type", "text/event-stream")


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "identity": ("", bytes),
    "gzip": ("gzip", gzip.compress),
    "two gzip members": ("gzip", lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
}
FORMS: dict[str, Callable[[str], bytes]] = {
    "raw": str.encode,
    "lower": lambda text: text.lower().encode(),
    "upper": lambda text: text.upper().encode(),
    "percent": lambda text: quote(text, safe="").encode(),
    "percent lower": lambda text: re.sub("%..", lambda it: it[0].lower(), quote(text)).encode(),
    "percent full": lambda text: b"".join(b"%%%02X" % byte for byte in text.encode()),
    "json": lambda text: json.dumps(text)[1:-1].encode(),
    "json slash": lambda text: json.dumps(text)[1:-1].replace("/", "\\/").encode(),
    "json twice": lambda text: json.dumps(json.dumps(text))[3:-3].encode(),
    "unicode": lambda text: "".join(f"\\u{ord(each):04x}" for each in text).encode(),
    "unicode upper": lambda text: "".join(f"\\u{ord(each):04X}" for each in text).encode(),
    "bytes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()).encode(),
    "hex": lambda text: text.encode().hex().encode(),
    "hex upper": lambda text: text.encode().hex().upper().encode(),
    "html": lambda text: html.escape(text).encode(),
    "wide": lambda text: text.encode("utf-16-le"),
    "wider": lambda text: text.encode("utf-32-be"),
}
# Letters one by one: st.text also draws names from the source, which stand in a database anyway.
texts = (
    st.lists(
        st.characters(min_codepoint=33, max_codepoint=126) | st.sampled_from("é\u20ac"),
        min_size=10,
        max_size=40,
    )
    .map("".join)
    .filter(lambda text: len(set(text)) > 6)  # others stand in a database by chance
)

up = fixtures.upstream("function", alpn=("h2", "http/1.1"))


@pytest.fixture
def proxy(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    """A live proxy for the upstream."""
    with live_proxy(tmp_path, certs, up) as live:
        yield live


def asked(live: LiveProxy, up: Upstream, auth: tuple[str, str]) -> Answer:
    with secure_connect(live.port, up.authority, auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", "/tell", {"Host": up.authority}, b"{}")


def files(live: LiveProxy) -> bytes:
    """All that the home holds, but for the secret itself."""
    return b"\n".join(contents(live.home.root, but="demo.secret").values())


def decoded(data: bytes) -> Iterator[bytes]:
    """Whatever base64 in either alphabet may stand for, at each of its four beginnings."""
    for run in re.findall(rb"[A-Za-z0-9+/_-]{8,}", data):
        plain = run.translate(bytes.maketrans(b"-_", b"+/"))
        for start in range(4):
            part = plain[start:]
            yield base64.b64decode(part[: len(part) // 4 * 4])


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


def test_no_form_in_any_split_and_coding_reaches_the_agent_or_the_ledger(
    proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn("demo_api", ttl_seconds=300)
    said: list[bytes] = []

    @settings(
        max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )  # each example is a call over TLS
    @given(st.data(), texts, st.lists(st.integers(0, 400), max_size=6))
    def told(data: st.DataObject, text: str, cuts: list[int]) -> None:
        (proxy.home.root / "demo.secret").write_text(text, encoding="utf-8")
        form = FORMS[data.draw(st.sampled_from(sorted(FORMS)))](text)
        before = data.draw(st.binary(max_size=5))
        spoken = before + text.encode()
        wrapped = base64.b64encode(spoken) + b" " + base64.urlsafe_b64encode(spoken + b"!")
        coding, pack = CODINGS[data.draw(st.sampled_from(sorted(CODINGS)))]
        body = pack(b"data: <" + form + b">\n\ndata: " + wrapped + b"\n\n")
        length = len(body) if data.draw(st.booleans()) else None

        def tell(exchange: Exchange) -> None:
            coded = [("Content-Encoding", coding)] if coding else []
            exchange.start(500, [EVENTS, *coded], length=length)
            for piece in pieces(body, cuts):
                exchange.send(piece)
            exchange.finish()

        up.route("/tell", tell)
        answer = asked(proxy, up, session.auth)
        assert answer.status == 500
        assert answer.body.startswith(b"data: <" + MARK)
        assert form not in answer.body
        assert text.encode() not in b"\n".join(decoded(answer.body))
        said.extend((form, text.encode(), text.encode().hex().encode()))

    told()
    kept = files(proxy)
    assert [each for each in said if each in kept] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Location", f"https://other.test/?key={SECRET}"),
        ("Location", "https://other.test/?key=" + FORMS["percent full"](SECRET).decode()),
        ("Set-Cookie", f"sid={SECRET}; Path=/; HttpOnly"),
        ("WWW-Authenticate", "Basic x=" + base64.b64encode(f"u:{SECRET}".encode()).decode()),
        ("X-Hex", SECRET.encode().hex()),
        ("X-Case", SECRET.upper()),
        (f"X-{SECRET}", "1"),
    ],
)
def test_no_header_says_a_secret(name: str, value: str, proxy: LiveProxy, up: Upstream) -> None:
    session = proxy.spawn("demo_api")
    up.route("/tell", lambda each: each.reply(302, b"there", [(name, value), ("X-Other", "ok")]))
    answer = asked(proxy, up, session.auth)
    assert (answer.status, answer.header("x-other"), answer.body) == (302, b"ok", b"there")
    assert proxy.last(session).fields["scrubbed"] == 1
    text = answer.head + unquote_to_bytes(answer.head) + b"\n".join(decoded(answer.head))
    assert SECRET.lower().encode() not in text.lower()
    assert SECRET.encode().hex().encode() not in text + files(proxy)
    assert SECRET.encode() not in files(proxy)


def test_no_reason_phrase_says_a_secret(tmp_path: Path, certs: Certs) -> None:
    line = f"HTTP/1.1 401 bad key {SECRET}\r\nContent-Length: 0\r\n\r\n".encode()
    with Upstream(certs) as plain, live_proxy(tmp_path, certs, plain) as live:
        plain.route("/tell", lambda each: each.raw(line))  # type: ignore[attr-defined]
        answer = asked(live, plain, live.spawn("demo_api").auth)
        assert answer.head.startswith(b"HTTP/1.1 401 bad key " + MARK)


def test_an_event_with_a_secret_comes_at_once_and_the_next_ones_pass(
    proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn("demo_api")
    half = len(SECRET) // 2

    def tell(exchange: Exchange) -> None:
        exchange.start(200, [EVENTS])
        for piece in (f"data: {SECRET[:half]}", f"{SECRET[half:]}\n\n", "data: next\n\n"):
            exchange.emit(piece.encode())
        exchange.finish()

    up.route("/tell", tell)
    assert asked(proxy, up, session.auth).body == b"data: " + MARK + b"\n\ndata: next\n\n"


@pytest.mark.parametrize(
    ("mode", "coding", "status"),
    [
        ("redact", "x-odd", 502),
        ("refuse", "x-odd", 502),
        ("mark", "x-odd", 200),
        ("mark", "gzip, br", 200),
        ("mark", "gzip", 502),
    ],
)
def test_a_body_that_cannot_be_inspected_is_refused_or_marked(
    mode: str, coding: str, status: int, tmp_path: Path, certs: Certs
) -> None:
    with Upstream(certs) as up, live_proxy(tmp_path, certs, up, proxy={"scrub": mode}) as live:
        session = live.spawn("demo_api")
        body = b"\x00cannot be read\xff"
        up.route("/tell", lambda each: each.reply(200, body, [("Content-Encoding", coding)]))
        answer = asked(live, up, session.auth)
        assert answer.status == status
        assert (answer.body == body) is (status == 200)
        flags = live.last(session).fields["flags"]
        assert flags == (["uninspected"] if status == 200 else ["withheld"])


def test_our_own_error_pages_say_no_secret(proxy: LiveProxy, up: Upstream) -> None:
    session = proxy.spawn(f"GET {up.url}/**")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", f"/echo/{SECRET}", {"Host": up.authority}, b"{}")
    assert answer.status == 403
    assert SECRET.encode() not in answer.head + answer.body
    assert SECRET.encode() not in files(proxy)
