"""One agent against the others: what hangs, and what is large, keeps only its own calls waiting."""

from __future__ import annotations

import gc
import os
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from ghost_addons.refusals import CROWD
from ghost_hooks.params import COMMA_LIMIT, FIELD_LIMIT
from support import fixtures
from support.agent import raw_connect, secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.upstream import Upstream

CALLS = 12  # more than a loop has threads for all of us on a small machine
POOL = min(32, (os.cpu_count() or 1) + 4)  # threads that a loop has for all of us
ACTS = POOL + 1
LARGE_BYTES = 100_000  # a body that is read beside the loop
JSON = {"Content-Type": "application/json"}

up = fixtures.upstream("function", names=("localhost", "127.0.0.1"))


def status(
    live: LiveProxy, session: LiveSession, up: Upstream, path: str = "/status/200", **more: bytes
) -> int:
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        lines = {
            "Host": up.authority,
            **{name: value.decode() for name, value in more.items() if name != "body"},
        }
        return tunnel.request("POST", path, lines, more.get("body", b"{}")).status


def test_a_command_that_hangs_keeps_only_its_own_calls_waiting(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    go_on = tmp_path / "go-on"
    script = tmp_path / "secret"
    script.write_text(
        f"#!/bin/sh\nuntil [ -e {go_on} ]; do sleep 0.02; done\necho a-secret-of-a-command\n"
    )
    script.chmod(0o700)
    slow = {"kind": "bearer", "secret": f"cmd:{script}", "hosts": [f"{up.authority}/slow/**"]}
    up.route("/slow/x", lambda each: each.reply(200))
    demo = {"hosts": [f"{up.authority}/status/**"]}
    with live_proxy(tmp_path, certs, up, credentials={"slow": slow, "demo": demo}) as live:
        greedy, other = (live.spawn(f"POST {up.url}/**") for _ in range(2))
        with ThreadPoolExecutor(CALLS) as threads:
            waiting = [threads.submit(status, live, greedy, up, "/slow/x") for _ in range(CALLS)]
            try:
                time.sleep(0.3)
                assert status(live, other, up, body=b"x" * LARGE_BYTES) == 200
                assert not any(each.done() for each in waiting)
            finally:
                go_on.touch()
            assert {each.result() for each in waiting} == {200}


def test_calls_of_act_that_hang_take_no_thread_that_others_need(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    go_on = threading.Event()

    def late(exchange: Exchange) -> None:
        go_on.wait(10)
        exchange.reply(200)

    up.route("/late", late)
    hang = {"method": "GET", "path": "/late"}
    with live_proxy(tmp_path, certs, up, tools={"demo_api": {"actions": {"hang": hang}}}) as live:
        greedy, other = live.spawn("demo_api:hang"), live.spawn(f"POST {up.url}/**")
        wanted = {"tool": "demo_api", "action": "hang"}

        async def act() -> dict[str, object]:
            return await live.proxy.act(live.proxy.admit(greedy.sid), wanted)

        with ThreadPoolExecutor(ACTS) as threads:
            waiting = [threads.submit(lambda: live.do(act())) for _ in range(ACTS)]
            try:
                until(lambda: up.connections >= POOL)
                assert status(live, other, up, body=b"x" * LARGE_BYTES) == 200
                assert not any(each.done() for each in waiting)
            finally:
                go_on.set()
            assert {each.result()["status"] for each in waiting} == {"executed"}


def test_a_list_of_unlike_values_is_judged_at_once(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    schema = {"properties": {"list": {"type": "array", "uniqueItems": True}}}
    pay = {"method": "POST", "path": "/status/200", "request_schema": schema}
    values = ",".join(f'{{"a":{number}}}' for number in range(5000))
    with live_proxy(tmp_path, certs, up, tools={"demo_api": {"actions": {"pay": pay}}}) as live:
        lines = {"Content-Type": JSON["Content-Type"].encode()}
        body = f'{{"list":[{values}]}}'.encode()
        assert status(live, live.spawn("demo_api"), up, body=body, **lines) == 200


def test_a_query_of_too_many_names_is_not_read(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    query = "&".join(f".{number:x}" for number in range(FIELD_LIMIT + 1))
    with live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("GET", f"/echo?{query}", {"Host": up.authority})
        assert (answer.status, b"params.long" in answer.body) == (413, True)
        assert live.last(session).fields["error"] == "params.long"
    assert up.connections == 0


@pytest.mark.parametrize("value", [b"1", b"1.5", b"[]"], ids=["number", "decimal", "list"])
def test_json_of_too_many_values_is_not_read(
    value: bytes, tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    body = b"[" + (value + b",") * (COMMA_LIMIT + 1) + value + b"]"
    with live_proxy(tmp_path, certs, up) as live:
        live.home.append('[[rules]]\ndeny = { host = "localhost", when = "amount > 10" }')
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            answer = tunnel.request("POST", "/echo", {"Host": up.authority, **JSON}, body)
        assert (answer.status, b"params.long" in answer.body) == (413, True)
    assert up.connections == 0


@pytest.mark.parametrize("place", ["query", "name", "encoding", "field"])
def test_what_is_long_is_not_remembered(
    place: str, tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    rule = '[[rules]]\ndeny = { host = "localhost", when = "amount > 10" }'
    with live_proxy(tmp_path, certs, up) as live:
        live.home.append(rule)
        session = live.spawn(f"POST {up.url}/status/**", ttl_seconds=600)
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:

            def send(number: int) -> None:
                """Send what is refused, since our own upstream remembers everything."""
                long = f"{number}-".ljust(200_000, "a")
                path = f"/elsewhere?q={long}" if place == "query" else "/status/200"
                lines = {"Host": up.authority, **JSON}
                lines |= {f"x{long}": "1"} if place == "name" else {}
                lines |= {"Accept-Encoding": f"gzip, {long}"} if place == "encoding" else {}
                field = f"={long}" if place == "field" else "x"
                body = b'{"%s": 1, "amount": 11}' % field.encode()
                assert tunnel.request("POST", path, lines, body).status in {400, 403}

            for number in range(5):
                send(number)
            with held() as bytes_held:
                for number in range(5, 25):
                    send(number)
                live.do(live.proxy.services.refusals.flush())  # they wait a second for equal ones
                assert bytes_held() < 1_000_000  # of 4 MB sent


@contextmanager
def held() -> Iterator[Callable[[], int]]:
    """Yield what tells how many bytes of objects this process holds that were made in the block."""
    tracemalloc.start()

    def bytes_held() -> int:
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    try:
        yield bytes_held
    finally:
        tracemalloc.stop()


def test_clients_that_nobody_answers_for_do_not_fill_the_ledger(
    tmp_path: Path, certs: Certs, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_addons.refusals.CROWD_SECONDS", 600)
    nobody = ("gh_" + "0" * 32, "wrong")
    with live_proxy(tmp_path, certs, up) as live:
        for number in range(CROWD + 25):
            with raw_connect(live.port, f"host{number}.test:443", nobody) as tunnel:
                assert tunnel.status == 407
        live.do(live.proxy.services.refusals.flush())
        denied = [each for each in live.entries("system") if each.type == "action.denied"]
    hosts = [each.fields["host"] for each in denied]
    assert hosts == [*(f"host{number}.test" for number in range(CROWD)), "various", "various"]
    assert denied[-1].fields["count"] == 24


def test_lists_that_are_long_to_judge_keep_only_calls_of_their_session_waiting(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    element = {"$ref": "#/$defs/e"}
    schema = {"$defs": {"e": {"type": "integer"}}, "properties": {"list": {"items": element}}}
    pay = {"method": "POST", "path": "/status/200", "request_schema": schema}
    pays = {
        "demo_api": {"actions": {"pay": pay, "other": {"method": "POST", "path": "/status/201"}}}
    }
    body = b'{"list":[' + b"1," * 6_000 + b"1]}"  # 40 µs for each
    lines = {"Content-Type": JSON["Content-Type"].encode()}
    with live_proxy(tmp_path, certs, up, tools=pays) as live, ThreadPoolExecutor(CALLS) as threads:
        greedy, other = (live.spawn("demo_api") for _ in range(2))
        waiting = [
            threads.submit(status, live, greedy, up, body=body, **lines) for _ in range(CALLS)
        ]
        time.sleep(0.2)
        assert status(live, other, up, "/status/201", body=b"x" * LARGE_BYTES) == 201
        left = [each for each in waiting if not each.done()]
        assert len(left) > CALLS // 2
        assert {each.result() for each in waiting} == {200}
