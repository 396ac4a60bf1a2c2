"""The third call that holds a secret stops the session, over the wire."""

from __future__ import annotations

import contextlib
import json
import ssl
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from ghost_addons import guesses
from ghost_core.errors import UnavailableError
from support.agent import Answer, raw_connect, secure_connect
from support.home import SECRET
from support.live import LiveProxy, LiveSession, until
from support.upstream import Upstream


def guessed(proxy: LiveProxy, session: LiveSession, up: Upstream, path: str = "/echo") -> Answer:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        headers = {"Host": up.authority, "X-Guess": f"wrong-one,{SECRET},wrong-two"}
        return tunnel.request("POST", path, headers, b"{}")


def said(answer: Answer) -> dict[str, str]:
    found: dict[str, str] = json.loads(answer.body)["error"]
    return found


def code_at_connect(proxy: LiveProxy, session: LiveSession, up: Upstream) -> str:
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        assert tunnel.connected is not None
        if tunnel.status == 200:
            return ""
        return str(json.loads(tunnel.connected.body)["error"]["code"])


def test_the_third_leak_stops_the_session_and_says_so(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    first, second, third = (guessed(proxy, session, up) for _ in range(3))
    for each in (first, second):
        assert said(each)["code"] == "credential.leaked"
        assert "quarantine" not in each.body.decode()
    error = said(third)
    assert (third.status, error["code"]) == (403, "credential.leaked")
    assert "after 3 such calls the session is in quarantine" in error["message"]
    assert f"ghost session show {session.sid}" in error["hint"]
    assert code_at_connect(proxy, session, up) == "session.quarantined"
    assert up.connections == 0


def test_the_quarantine_is_entered_with_its_reason_and_the_call(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    last = [said(guessed(proxy, session, up, f"/echo/{n}")) for n in range(3)][-1]
    *_, entered, denied = proxy.entries(session)
    assert (entered.type, denied.type) == ("session.quarantined", "action.denied")
    assert entered.fields["by"] == "guard:credential.leaked"
    assert entered.fields["reason"] == "3 calls held a secret that agents must not have"
    assert entered.fields["action"] == denied.id == last["action_id"]


def test_equal_guesses_within_a_second_are_counted_each(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        headers = {"Host": up.authority, "X-Guess": SECRET}
        codes = [said(tunnel.request("POST", "/echo", headers, b"{}"))["code"] for _ in range(4)]
    assert codes == [*["credential.leaked"] * 3, "session.quarantined"]


def test_guesses_at_once_get_no_more_answers(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "X-Guess": SECRET}
    codes: list[str] = []
    with contextlib.ExitStack() as stack:
        tunnels = [
            stack.enter_context(secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca))
            for _ in range(8)
        ]
        for each in tunnels:
            each.begin("POST", "/echo", headers, b"{}")
        for each in tunnels:
            with contextlib.suppress(
                Exception
            ):  # whatever a client makes of a connection that ends
                codes.append(said(each.answer("POST"))["code"])
    assert codes
    assert codes.count("credential.leaked") <= guesses.LIMIT
    assert set(codes) <= {"credential.leaked", "session.quarantined"}
    assert up.connections == 0


def test_children_guess_for_the_session_at_the_root(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    one = proxy.spawn("demo_api", ttl_seconds=20, parent=session.sid)
    two = proxy.spawn("demo_api", ttl_seconds=20, parent=session.sid)
    below = proxy.spawn("demo_api", ttl_seconds=10, parent=two.sid)
    other = proxy.spawn("demo_api")
    assert "quarantine" not in said(guessed(proxy, one, up))["message"]
    assert "quarantine" not in said(guessed(proxy, two, up))["message"]
    error = said(guessed(proxy, below, up))
    assert f"session {session.sid}, above this one, is in quarantine" in error["message"]
    for each in (session, one, two, below):
        assert code_at_connect(proxy, each, up) == "session.quarantined"
    assert "session.quarantined" in proxy.types(session)
    assert "session.quarantined" not in proxy.types(below)
    assert code_at_connect(proxy, other, up) == ""


def test_the_next_owner_goes_on_counting(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    guessed(proxy, session, up, "/echo/1")
    guessed(proxy, session, up, "/echo/2")
    proxy.stop()
    again = LiveProxy(proxy.home, proxy.clock)
    again.start()
    try:
        assert "in quarantine" in said(guessed(again, session, up))["message"]
        assert code_at_connect(again, session, up) == "session.quarantined"
    finally:
        again.stop()


def test_uploads_that_are_cut_count_too(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    for _ in range(guesses.LIMIT):
        with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
            headers = {"Host": up.authority, "Transfer-Encoding": "chunked"}
            tunnel.begin("POST", "/echo", headers)
            data = f"guess {SECRET}".encode()
            tunnel.send(b"%x\r\n%s\r\n" % (len(data), data))
            assert tunnel.closed()
    until(lambda: "session.quarantined" in proxy.types(session))
    assert code_at_connect(proxy, session, up) == "session.quarantined"


def test_websockets_that_are_cut_count_too(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    address = f"http://{session.sid}:{session.token}@127.0.0.1:{proxy.port}"
    context = ssl.create_default_context(cafile=str(proxy.ca))
    for _ in range(guesses.LIMIT):
        with connect(
            f"wss://{up.authority}/ws", ssl=context, proxy=address, close_timeout=1
        ) as socket:
            socket.send(f"guess {SECRET}")
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=5)
    until(lambda: "session.quarantined" in proxy.types(session))


def test_a_quarantine_that_cannot_be_entered_holds_all_the_same(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = type(proxy.proxy.services.recorder)
    enter = recorder.enter

    def full(self: Any, *drafts: Any) -> Any:
        if drafts[0].type == "session.quarantined":
            raise UnavailableError("full", code="ledger.unwritable")
        return enter(self, *drafts)

    with monkeypatch.context() as patch:
        patch.setattr(recorder, "enter", full)
        answers = [guessed(proxy, session, up) for _ in range(3)]
        assert [each.status for each in answers] == [403, 403, 503]
        assert code_at_connect(proxy, session, up) == "session.quarantined"
    until(lambda: "session.quarantined" in proxy.types(session))


def test_other_refusals_are_no_guesses(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    for _ in range(5):
        with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
            answer = tunnel.request("POST", "/a/../b", {"Host": up.authority}, b"{}")
            assert said(answer)["code"] == "target.path"
    assert code_at_connect(proxy, session, up) == ""
