"""What a hostile agent, upstream or hook writes into the evidence does nothing when somebody reads it."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.agent import secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.home import GhostHome
from support.live import LiveProxy, live_proxy
from support.page import is_inert
from support.processes import ghost, succeed
from support.upstream import Upstream

MARKUP = "</script><img src=x onerror=alert(1)>"
SHEET = '=HYPERLINK("http://x")'
TERMINAL = "\x1b]0;title\x07\x1b[2J\u202e\u2066"
HOSTILE = f"{SHEET}{MARKUP}{TERMINAL}"
BYTES = bytes(range(256)) + MARKUP.encode()
NOTE = b"X-Note: " + SHEET.encode() + MARKUP.encode() + b"\xff\xfe\x85\r\n"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HOOK = f"""\
#!/bin/sh
cat > /dev/null
printf '%s' '{json.dumps({"verdict": "deny", "reason": HOSTILE, "labels": [HOSTILE]})}'
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, certs: Certs) -> Iterator[tuple[GhostHome, str]]:
    """A session whose intent, requests, replies and hook are all hostile, sealed."""
    folder = tmp_path_factory.mktemp("hostile")
    with Upstream(certs) as up, live_proxy(folder, certs, up) as proxy:
        up.route("/hostile", _reply)
        sid, auth = _spawn(proxy.home)
        with secure_connect(proxy.port, up.authority, auth, ca=proxy.ca) as tunnel:
            for request, status in _requests(up.authority):
                tunnel.send(request)
                assert tunnel.answer().status == status
            proxy.home.hook("_pre.sh", HOOK)
            refused = tunnel.request("DELETE", "/echo", {"Host": up.authority})
            assert refused.status == 403
        _end(proxy, sid)
        yield proxy.home, sid


def _spawn(home: GhostHome) -> tuple[str, tuple[str, str]]:
    words = ("--intent", HOSTILE, "--scope", "demo_api", "--ttl", "60")
    made = succeed(home, "spawn", *words).json
    return made["session_id"], (made["session_id"], made["token"])


def _end(proxy: LiveProxy, sid: str) -> None:
    live = proxy.proxy.services.sessions.get(sid)
    assert live is not None
    proxy.do(proxy.proxy.evaporate(live, grace_seconds=1))


def _requests(authority: str) -> list[tuple[bytes, int]]:
    """A body of every byte, header values that are no text, paths and a method that spell markup."""
    host = b"Host: " + authority.encode() + b"\r\n"
    length = b"Content-Length: %d\r\n" % len(BYTES)
    empty = host + b"Content-Length: 0\r\n\r\n"
    return [
        (b"POST /hostile HTTP/1.1\r\n" + host + NOTE + length + b"\r\n" + BYTES, 200),
        (b"POST /echo/%3Cimg%20onerror%3E?q=%E2%80%AE%1B%5B2J HTTP/1.1\r\n" + empty, 200),
        (b"POST /echo/%1B%5B2J%FF HTTP/1.1\r\n" + empty, 400),
        (b"+SUM /echo HTTP/1.1\r\n" + empty, 400),
    ]


def _reply(exchange: Exchange) -> None:
    headers = [("X-Reply", MARKUP), ("Content-Type", "text/html")]
    exchange.reply(200, BYTES, headers)


def _replay(told: tuple[GhostHome, str], *words: str) -> str:
    home, sid = told
    done = ghost(home, "replay", "--session-id", sid, *words)
    assert done.code == 0, done.err
    return done.out


def _strings(value: Any) -> Iterator[str]:  # any JSON
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("words", [(), ("--disclose",)])
def test_the_page_is_inert(told: tuple[GhostHome, str], words: tuple[str, ...]) -> None:
    text = _replay(told, "--format", "html", *words)
    page = is_inert(text)
    assert "onerror" in page.text  # it is shown, as text
    assert ACTS.search(text) is None


def test_no_cell_of_the_table_is_a_formula(told: tuple[GhostHome, str]) -> None:
    rows = list(csv.reader(io.StringIO(_replay(told, "--format", "csv"))))
    assert any("HYPERLINK" in cell for row in rows for cell in row)
    assert len({len(row) for row in rows}) == 1
    for row in rows:
        for cell in row:
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell


def test_json_is_ascii_for_what_acts_and_says_the_same(told: tuple[GhostHome, str]) -> None:
    text = _replay(told, "--disclose")
    assert ACTS.search(text) is None
    found = json.loads(text)
    assert found["intent"] == HOSTILE
    assert any(each == MARKUP or MARKUP in each for each in _strings(found))


def test_bytes_that_are_no_text_come_back_as_they_were(told: tuple[GhostHome, str]) -> None:
    found = json.loads(_replay(told, "--disclose"))
    kept = [
        base64.b64decode(each["data"]) if each["encoding"] == "base64" else each["data"].encode()
        for action in found["actions"]
        for each in action["disclosures"]
    ]
    assert sum(each.endswith(b"\r\n\r\n" + BYTES) for each in kept) >= 2
    assert any(NOTE in each for each in kept)


@pytest.mark.parametrize("words", [("session", "show"), ("session", "list"), ("residue",)])
@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_what_is_printed_moves_no_terminal(
    told: tuple[GhostHome, str], words: tuple[str, ...], json_: tuple[str, ...]
) -> None:
    home, sid = told
    name = () if words[-1] == "list" else ("--session-id", sid) if words == ("residue",) else (sid,)
    done = ghost(home, *words, *name, *json_)
    assert done.code == 0, done.err
    assert ACTS.search(done.out + done.err) is None


def test_the_bundle_verifies_and_unpacks_into_harmless_names(
    told: tuple[GhostHome, str], tmp_path: Path
) -> None:
    home, sid = told
    succeed(home, "bundle", sid, "-o", str(tmp_path / "x.ghost"))
    succeed(home, "bundle", "unpack", str(tmp_path / "x.ghost"), "-o", str(tmp_path / "parts"))
    names = [each.name for each in (tmp_path / "parts").rglob("*")]
    assert names
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names)
