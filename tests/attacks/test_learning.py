"""Ways to a secret beside the reply of its own call: another call's stream, the text of a refusal."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from support.agent import Answer, raw_connect, secure_connect
from support.certs import Certs
from support.exchange import WAIT_SECONDS, Exchange
from support.home import SECRET
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

OLD, NEW = "old-secret-of-yesterday-4242", "new-secret-of-today-7777"
MARK = b"[redacted by ghost]"


def call(live: LiveProxy, session: LiveSession, up: Upstream, path: str) -> Answer:
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", path, {"Host": up.authority}, b"{}")


@pytest.mark.parametrize("length", [None, 200], ids=["stream", "held"])
def test_what_began_before_a_secret_was_used_does_not_tell_it(
    length: int | None, tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    seen: list[bytes] = []
    used = threading.Event()

    def feed(exchange: Exchange) -> None:
        exchange.start(
            200, [("Content-Type", "text/event-stream")] if length is None else [], length=length
        )
        exchange.send(b"data: begun\n\n")
        assert used.wait(WAIT_SECONDS)
        exchange.send(b"data: " + seen[0] + b"\n\n")
        exchange.send(b" " * ((length or 0) - 21 - len(seen[0])))
        exchange.finish()

    def keep(exchange: Exchange) -> None:
        seen.append(exchange.record.header("authorization") or b"")
        exchange.reply(200)

    up.route("/feed", feed)
    up.route("/use", keep)
    file = tmp_path / "rotated"
    file.write_text(OLD)
    demo = {"secret": f"file:{file}"}
    with live_proxy(tmp_path, certs, up, credentials={"demo": demo}) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            tunnel.begin("GET", "/feed", {"Host": up.authority})
            up.wait_requests(1)
            file.write_text(NEW)
            assert call(live, session, up, "/use").status == 200
            assert NEW.encode() in seen[0]
            used.set()
            answer = tunnel.answer()
    assert MARK in answer.body
    assert NEW.encode() not in answer.body


def test_a_secret_that_is_used_first_now_is_looked_for_in_the_same_call(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    file = tmp_path / "secret"
    file.write_text(NEW)
    demo = {"secret": f"cmd:cat {file}"}
    with live_proxy(tmp_path, certs, up, credentials={"demo": demo}) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("POST", "/echo", {"Host": up.authority}, NEW.encode())
        assert (answer.status, b"credential.leaked" in answer.body) == (403, True)
        ledger = live.proxy.services.ledger
        assert not any(NEW.encode() in (each.data or b"") for each in ledger.payloads(session.sid))
    assert up.connections == 0


def at_connect(live: LiveProxy, session: LiveSession, authority: str) -> bytes:
    with raw_connect(live.port, authority, session.auth) as tunnel:
        assert tunnel.connected is not None
        return tunnel.connected.body


@pytest.mark.parametrize("form", ["host", "path"])
def test_a_refusal_that_quotes_a_guess_counts_as_a_leak(
    form: str, tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    tool = {"base_url": f"{up.url}/elsewhere"}  # else the hint names the tool, and no path
    with live_proxy(tmp_path, certs, up, tools={"demo_api": tool}) as live:
        session = live.spawn(f"POST {up.url}/echo")

        def refused(number: int) -> bytes:
            if form == "host":
                return at_connect(live, session, f"{SECRET.lower()}.n{number}.test:8443")
            return call(live, session, up, f"/closed/{SECRET}/{number}").body

        bodies = [*map(refused, range(3)), at_connect(live, session, up.authority)]
        codes = [json.loads(each)["error"]["code"] for each in bodies]
        assert codes == [*["credential.leaked"] * 3, "session.quarantined"]
        assert not any(MARK in each for each in bodies)
    assert up.connections == 0
