"""Webhooks and triggers over the wire: what receivers get, and that calls do not notice."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ghost_addons import deliverer
from ghost_ledger.entry import Entry
from support.agent import secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.home import PLACEHOLDER, SECRET
from support.live import LiveProxy, LiveSession, until
from support.processes import free_port
from support.receiver import KEY, answering, opened, telling
from support.shell import entries
from support.upstream import Upstream

EVERY = ("session.spawned", "action.executed", "action.failed", "action.denied", "session.sealed")
WAIT_SECONDS = 20.0
BOUND_SECONDS = 10.0  # receivers and programs here would hold for 30 s and more
BODY = b'{"number": "4111 1111 1111 1111"}'


@pytest.fixture
def ops(certs: Certs) -> Iterator[Upstream]:
    """The receiver."""
    with Upstream(certs) as receiver:
        receiver.route("/hook", answering())
        yield receiver


@dataclass(frozen=True, slots=True)
class Place:
    """What every test here needs, in one piece."""

    folder: Path
    certs: Certs
    up: Upstream
    ops: Upstream


@pytest.fixture
def place(tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream) -> Place:
    return Place(tmp_path, certs, up, ops)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliverer, "FIRST_SECONDS", 0.01)


def call(live: LiveProxy, session: LiveSession, up: Upstream, path: str = "/echo") -> int:
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        headers = {"Host": up.authority, "Authorization": f"Bearer {PLACEHOLDER}"}
        return tunnel.request("POST", path, headers, BODY).status


def outcome(live: LiveProxy, kind: str) -> Entry:
    """Return the one entry about a webhook, once it is there."""
    return live.wait_for("system", 1, kind)[0]


def test_each_event_is_a_signed_cloud_event_without_payload_or_secret(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    with telling(tmp_path, certs, up, ops, *EVERY) as live:
        session = live.spawn("demo_api")
        assert call(live, session, up) == 200
        assert call(live, live.spawn(f"GET {up.url}/x"), up) == 403
        live.evaporate(session)
        records = ops.wait_requests(5)
        events = {each["type"]: each for each in map(opened, records)}
        assert set(events) == set(EVERY) - {"action.failed"}
        executed = events["action.executed"]
        (entered,) = [each for each in live.entries(session) if each.type == "action.outcome"]
        assert executed["id"] == entered.id
        assert executed["subject"] == session.sid
        assert executed["source"] == f"{live.proxy.services.recorder.origin}/s/{session.sid}"
        data = executed["data"]
        assert (data["status"], data["http_status"]) == ("executed", 200)
        assert (data["tool"], data["action"]) == ("demo_api", "POST")
        assert (data["method"], data["host"]) == ("POST", up.authority.partition(":")[0])
        assert data["response"] == entered.fields["response"]
        assert events["action.denied"]["data"]["code"] == 403
        assert events["session.sealed"]["data"]["root"]
    told = b"".join(each.body for each in records)
    key = base64.b64encode(KEY)
    assert not any(each in told for each in (SECRET.encode(), PLACEHOLDER.encode(), b"4111", key))
    assert not any(record.header("authorization") for record in records)


def test_a_delivery_is_entered_by_the_process_with_the_entry_it_tells_of(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    with telling(tmp_path, certs, up, ops, "action.executed") as live:
        session = live.spawn("demo_api")
        call(live, session, up)
        found = outcome(live, "webhook.delivered").fields
        (record,) = ops.requests
        assert found["entry"] == opened(record)["data"]["entry_hash"]
        assert (found["webhook"], found["event"]) == ("audit", "action.executed")
        assert (found["attempts"], found["http_status"]) == (1, 200)
        assert "webhook.delivered" not in live.types(session)


def test_a_receiver_that_fails_twice_gets_the_same_event_until_it_takes_it(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    ops.route("/hook", answering(500, 503))
    with telling(tmp_path, certs, up, ops, "action.executed") as live:
        call(live, live.spawn("demo_api"), up)
        assert outcome(live, "webhook.delivered").fields["attempts"] == 3
    assert len({opened(each)["id"] for each in ops.requests}) == 1
    assert len(ops.requests) == 3


@pytest.mark.parametrize(
    ("status", "attempts"), [(302, 1), (400, 1), (410, 1), (429, deliverer.ATTEMPTS)]
)
def test_a_receiver_that_will_not_take_it_is_entered_as_failed(
    place: Place, status: int, attempts: int
) -> None:
    up, ops = place.up, place.ops
    ops.route("/hook", answering(*[status] * 9))
    with telling(place.folder, place.certs, up, ops, "action.executed") as live:
        call(live, live.spawn("demo_api"), up)
        found = outcome(live, "webhook.failed").fields
    assert (found["http_status"], found["attempts"]) == (status, attempts)
    assert found["error"] == "webhook.status"


def test_a_status_that_no_entry_holds_keeps_no_failure_out_of_the_record(place: Place) -> None:
    place.ops.route("/hook", answering(*[999] * deliverer.ATTEMPTS))
    with telling(place.folder, place.certs, place.up, place.ops, "action.executed") as live:
        call(live, live.spawn("demo_api"), place.up)
        found = outcome(live, "webhook.failed").fields
    assert (found["error"], found["attempts"]) == ("webhook.unreachable", deliverer.ATTEMPTS)


def test_a_redirect_is_not_followed(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    place = f"/redirect?to={ops.url}/hook"
    with telling(tmp_path, certs, up, ops, "action.executed", path=place) as live:
        call(live, live.spawn("demo_api"), up)
        assert outcome(live, "webhook.failed").fields["http_status"] == 302
    assert [each.path for each in ops.requests] == ["/redirect"]


def test_a_receiver_that_is_down_is_tried_again_and_calls_do_not_notice(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    ops.port, open_port = free_port(), ops.port
    with telling(tmp_path, certs, up, ops, "action.executed") as live:
        session = live.spawn("demo_api")
        assert [call(live, session, up) for _ in range(3)] == [200, 200, 200]
        found = outcome(live, "webhook.failed").fields
        assert (found["error"], found["attempts"]) == ("webhook.unreachable", deliverer.ATTEMPTS)
    ops.port = open_port


def test_a_slow_receiver_keeps_no_call_waiting(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    held, release = threading.Event(), threading.Event()

    def hold(exchange: Exchange) -> None:
        held.set()
        release.wait(WAIT_SECONDS)
        exchange.reply(200)

    ops.route("/hook", hold)
    with telling(tmp_path, certs, up, ops, "action.executed") as live:
        session = live.spawn("demo_api")
        assert call(live, session, up) == 200
        assert held.wait(WAIT_SECONDS)
        assert [call(live, session, up) for _ in range(4)] == [200] * 4
        assert len(ops.requests) == 1
        release.set()
        assert len(live.wait_for("system", 5, "webhook.delivered")) == 5


def test_a_receiver_that_does_not_answer_times_out(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "ATTEMPTS", 1)
    hooks = {"timeout_seconds": 1}
    place = "/slow?ms=30000"
    with telling(tmp_path, certs, up, ops, "action.executed", path=place, hooks=hooks) as live:
        call(live, live.spawn("demo_api"), up)
        assert outcome(live, "webhook.failed").fields["error"] == "webhook.timeout"


def drip(exchange: Exchange) -> None:
    exchange.start(200, [("Content-Type", "text/plain")])
    for _ in range(200):
        exchange.send(b"x")
        exchange.pause(0.05)


def test_an_answer_that_drips_in_is_cut_at_the_deadline(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliverer, "ATTEMPTS", 1)
    ops.route("/hook", drip)
    hooks = {"timeout_seconds": 1}
    with telling(tmp_path, certs, up, ops, "action.executed", hooks=hooks) as live:
        call(live, live.spawn("demo_api"), up)
        assert outcome(live, "webhook.failed").fields["error"] == "webhook.timeout"


def test_what_a_receiver_says_beyond_the_status_does_not_matter(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    ops.route("/hook", lambda exchange: exchange.reply(202, b"x" * 1_000_000))
    with telling(tmp_path, certs, up, ops, "action.executed") as live:
        call(live, live.spawn("demo_api"), up)
        assert outcome(live, "webhook.delivered").fields["http_status"] == 202


def test_a_receiver_with_a_certificate_for_another_name_is_told_nothing(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with (
        Upstream(certs, names=("other.test",)) as stranger,
        telling(tmp_path, certs, up, stranger, "action.executed") as live,
    ):
        call(live, live.spawn("demo_api"), up)
        assert outcome(live, "webhook.failed").fields["error"] == "webhook.tls"
        assert stranger.requests == ()


def test_a_receiver_on_a_private_address_that_nobody_allowed_is_not_dialled(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    with telling(tmp_path, certs, up, ops, "action.executed", allow=False) as live:
        call(live, live.spawn("demo_api"), up)
        found = outcome(live, "webhook.failed").fields
    assert (found["error"], found["attempts"]) == ("target.address", 1)
    assert ops.connections == 0


def test_the_end_of_the_proxy_is_bounded_and_what_was_not_sent_is_entered(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_addons.events.Events.close.__defaults__", (0.2,))
    with telling(tmp_path, certs, up, ops, "action.executed", path="/slow?ms=30000") as live:
        session = live.spawn("demo_api")
        for _ in range(4):
            call(live, session, up)
        ops.wait_requests(1)
        system = live.proxy.services.recorder.system()
        started = time.monotonic()
        live.stop()
        assert time.monotonic() - started < BOUND_SECONDS
    failed = [each.fields for each in entries(live.home, system, "webhook.failed")]
    assert [each.get("count") for each in failed] == [None, 3]
    assert failed[1]["error"] == "webhook.unsent"


def test_deliveries_under_way_are_finished_before_the_end(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    with telling(tmp_path, certs, up, ops, "action.executed", path="/slow?ms=200") as live:
        session = live.spawn("demo_api")
        for _ in range(2):
            call(live, session, up)
        system = live.proxy.services.recorder.system()
        live.stop()
    assert len(entries(live.home, system, "webhook.delivered")) == 2


def test_a_change_of_the_file_holds_from_the_next_request(
    tmp_path: Path, certs: Certs, up: Upstream, ops: Upstream
) -> None:
    with telling(tmp_path, certs, up, ops, "action.executed") as live:
        session = live.spawn("demo_api")
        text = live.home.config.read_text()
        live.home.config.write_text(text.replace("action.executed", "action.denied"))
        assert call(live, session, up) == 200
        live.home.config.write_text(text)
        assert call(live, session, up) == 200
        outcome(live, "webhook.delivered")
        assert len(ops.requests) == 1


def test_a_session_that_a_hook_stopped_is_told_without_the_hooks_reason(place: Place) -> None:
    with telling(place.folder, place.certs, place.up, place.ops, "session.quarantined") as live:
        script = """#!/bin/sh\necho '{"verdict": "quarantine", "reason": "4111 seen"}'\n"""
        live.home.hook("_pre.sh", script)
        session = live.spawn("demo_api")
        assert call(live, session, place.up) == 403
        event = opened(place.ops.wait_requests(1)[0])
        assert (event["type"], event["subject"]) == ("session.quarantined", session.sid)
        assert "4111" not in json.dumps(event)
        outcome(live, "webhook.delivered")


# -- triggers ----------------------------------------------------------------------------------------


@contextmanager
def triggering(place: Place, script: str, *, seconds: int = 5) -> Iterator[LiveProxy]:
    """Run a proxy that starts a shell script after each executed action."""
    hooks = {"timeout_seconds": seconds}
    with telling(
        place.folder, place.certs, place.up, place.ops, "session.bypass", hooks=hooks
    ) as live:
        path = live.home.hook("ignored.bak", f"#!/bin/sh\n{script}\n")
        command = json.dumps([str(path), "argument"])
        live.home.append(f'[[triggers]]\non = "action.executed"\ncommand = {command}')
        yield live


def test_a_trigger_gets_the_event_and_little_else(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIPE_API_KEY", SECRET)
    out = place.folder / "out"
    script = f'cat > {out}.part; env >> {out}.part; echo "$1" >> {out}.part; mv {out}.part {out}'
    with triggering(place, script) as live:
        session = live.spawn("demo_api")
        call(live, session, place.up)
        until(out.exists)
    text = out.read_text()
    event: dict[str, Any]
    event, end = json.JSONDecoder().raw_decode(text)
    assert (event["type"], event["subject"]) == ("action.executed", session.sid)
    assert SECRET not in text
    assert text.endswith("argument\n")
    assert "STRIPE" not in text[end:]
    assert "GHOST_HOME" not in text[end:]


def test_a_trigger_that_hangs_is_counted_and_keeps_no_call_waiting(place: Place) -> None:
    mark = place.folder / "started"
    with triggering(place, f"touch {mark}; sleep 60 & sleep 60", seconds=2) as live:
        session = live.spawn("demo_api")
        assert call(live, session, place.up) == 200
        until(mark.exists)
        assert [call(live, session, place.up) for _ in range(3)] == [200, 200, 200]
        until(lambda: live.proxy.events.failures() >= 1)


def test_a_hanging_trigger_does_not_hold_the_end_of_the_proxy(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ghost_addons.events.Events.close.__defaults__", (0.2,))
    mark = place.folder / "started"
    script = f"touch {mark}; sleep 60"
    with triggering(place, script, seconds=30) as live:
        call(live, live.spawn("demo_api"), place.up)
        until(mark.exists)
        started = time.monotonic()
        live.stop()
        assert time.monotonic() - started < BOUND_SECONDS
        assert live.proxy.events.failures() == 0  # its listeners are gone
    assert not [each for each in threading.enumerate() if each.name.startswith("ghost-trigger")]
