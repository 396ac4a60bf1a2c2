"""Memory is changed inside a session while its owner serves calls, ends it, is killed, is asked by others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import pytest

from ghost_core import ids
from ghost_core.errors import GhostError
from ghost_ledger.chain import ChainEnd
from ghost_ledger.lending import Part, Run
from ghost_ledger.session import control
from support import fixtures, ledger
from support.agent import secure_connect
from support.home import GhostHome, ghost_home
from support.mcp import Raw, raw_server
from support.processes import Running, possess
from support.shell import Session, entries, eventually, inside, spawn, types
from support.upstream import Upstream

pytestmark = [pytest.mark.proxy, pytest.mark.timeout(120)]


ENDED = "not signed by its session: it has ended"
SLOW = "not signed by its session: its owner did not answer in time"  # on a busy machine

up = fixtures.upstream("module")
place = fixtures.home("module")


@pytest.fixture(scope="module")
def proxy(place: GhostHome) -> Iterator[Running]:
    """One possess; it owns each session from its first call on."""
    with possess(place) as running:
        yield running


@pytest.fixture
def session(
    place: GhostHome, proxy: Running, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> Session:
    """A session that the possess owns."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place.runtime))
    made = spawn(place, "demo_api")
    assert call(place, up, made) == 200
    return made


def call(place: GhostHome, up: Upstream, session: Session) -> int:
    ca = place.root / "ca" / "ghost-ca-cert.pem"
    with secure_connect(place.port, up.authority, session.auth, ca=ca) as tunnel:
        return tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status


def save(place: GhostHome, session: Session, text: str, *words: str) -> str:
    """Save from the command line, in the environment of a session; return what it said on stderr."""
    done = inside(
        place, "memory", "save", text, "--project", "app", *words, env=environment(session)
    )
    assert done.code == 0, done.err
    return done.err


def environment(session: Session) -> dict[str, str]:
    return {"GHOST_SESSION_ID": session.sid}


def verdict(place: GhostHome, session: Session) -> Any:
    done = inside(place, "replay", "--session-id", session.sid)
    return done.json


def evaporate(place: GhostHome, session: Session) -> None:
    done = inside(place, "evaporate", "--session-id", session.sid, "--grace", "0")
    assert done.code == 0, done.err


def saved(home: GhostHome) -> Counter[tuple[str, str]]:
    """Count what was saved by the session that signed it, and the reason it gives."""
    query = "SELECT sid, body FROM entries WHERE type = 'memory.changed'"
    found = [(sid, json.loads(body)) for sid, body in ledger.rows(home.root, query)]
    return Counter(
        (sid, each.get("reason", "")) for sid, each in found if each["change"] == "memory.saved"
    )


def signed(home: GhostHome, session: Session, count: int) -> None:
    """Wait until the session has signed so many more."""
    wanted = saved(home)[session.sid, ""] + count
    eventually(lambda: saved(home)[session.sid, ""] >= wanted, "signed saves", seconds=40)


def test_what_is_saved_in_a_session_is_signed_and_sealed_with_it(
    place: GhostHome, session: Session, tmp_path: Path
) -> None:
    systems = len(ledger.rows(place.root, "SELECT 1 FROM sessions WHERE system"))
    assert save(place, session, f"the port of {session.sid} is 8402") == ""
    (made,) = [
        each for each in entries(place, session, "memory.changed") if each.fields["by"] == "cli"
        and each.fields["change"] == "memory.saved"
    ]  # fmt: skip
    assert (made.sid, made.fields["session"]) == (session.sid, session.sid)
    assert len(ledger.rows(place.root, "SELECT 1 FROM sessions WHERE system")) == systems
    evaporate(place, session)
    view = verdict(place, session)
    assert view["verified"] is True
    assert "Memory changed" in {each["words"] for each in view["events"]}
    residue = inside(place, "residue", "--session-id", session.sid).json
    assert "memory.changed" in {each["type"] for each in residue["entries"]}
    bundle = str(tmp_path / "a.ghost")
    inside(place, "bundle", session.sid, "-o", bundle)
    assert inside(place, "verify", bundle, "--key", view["verify_key"]).code == 0
    row = "SELECT details FROM audit_log WHERE json_extract(details, '$.sid') = ?"
    assert json.loads(ledger.rows(place.root, row, session.sid)[-1])["id"] == made.id


def test_after_the_end_it_is_the_recorder_that_signs_and_says_why(
    place: GhostHome, session: Session
) -> None:
    evaporate(place, session)
    said = save(place, session, f"learned too late for {session.sid}")
    assert f"warning: session {session.sid}: did not sign a change of memory: it has ended" in said
    assert types(place, session)[-1] == "session.seal"
    bodies = ledger.rows(place.root, "SELECT body FROM entries WHERE type = 'memory.changed'")
    late = [each for each in map(json.loads, bodies) if each.get("session") == session.sid]
    assert {each["reason"] for each in late} == {ENDED}


class Saver:
    """Saves through `ghost mcp` in the environment of a session, again and again, until it is stopped."""

    def __init__(self, server: Raw, name: str) -> None:
        self._server = server
        self._name = name
        self._stopped = threading.Event()
        self.count = 0
        self.wrong: list[Any] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._server.handshake()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(30)

    def _run(self) -> None:
        while not self._stopped.is_set():
            text = f"{self._name} learned {ids.entry_id()}"
            answer = self._server.call("ghost_memory_save", project_id=self._name, content=text)
            if answer.get("isError"):
                self.wrong.append(answer)
            self.count += 1

    def more(self, count: int) -> None:
        """Wait until so many more were saved."""
        wanted = self.count + count
        eventually(lambda: self.count >= wanted, "more saves", seconds=30)


@pytest.mark.slow
def test_calls_saves_and_the_end_of_a_session_at_once(
    place: GhostHome, session: Session, up: Upstream
) -> None:
    before = saved(place)
    served: list[int] = []

    def calling() -> None:
        ca = place.root / "ca" / "ghost-ca-cert.pem"
        with (
            contextlib.suppress(OSError, EOFError),  # the end cuts it off
            secure_connect(place.port, up.authority, session.auth, ca=ca) as tunnel,
        ):
            while served[-1:] in ([], [200]):
                served.append(tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status)

    with raw_server(place, env=environment(session)) as server:
        client = threading.Thread(target=calling, daemon=True)
        with Saver(server, "busy") as saver:
            client.start()
            signed(place, session, 12)
            eventually(lambda: len(served) > 5, "calls", seconds=30)
            evaporate(place, session)
            saver.more(4)
        client.join(30)
        code, _, said = server.leave()
    assert (code, saver.wrong) == (0, [])
    found = saved(place) - before
    assert found.total() == saver.count
    assert {why for signer, why in found if signer == session.sid} == {""}
    assert {why for signer, why in found if signer != session.sid} - {SLOW} == {ENDED}
    assert said.count("did not sign a change of memory") == 1
    assert types(place, session)[-2:] == ["session.closed", "session.seal"]
    assert verdict(place, session)["verified"] is True


@pytest.mark.slow
def test_the_owner_is_killed_between_two_saves(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        session = spawn(home)
        with raw_server(home, env=environment(session)) as server:
            with possess(home, "--session-id", session.sid) as owner, Saver(server, "app") as saver:
                signed(home, session, 6)
                os.killpg(owner.process.pid, signal.SIGKILL)
                signed(home, session, 6)
            code, _, _ = server.leave()
        assert (code, saver.wrong) == (0, [])
        assert saved(home).total() == saver.count
        assert {why for _, why in saved(home)} - {SLOW} == {""}
        evaporate(home, session)
        assert verdict(home, session)["verified"] is True


def run_of(place: GhostHome, session: Session, changed: Mapping[str, Any]) -> Run:
    """Return what a save would ask the owner to sign now, changed as a forger would."""
    query = "SELECT seq, leaf_hash, ts FROM entries WHERE sid = ? ORDER BY seq DESC LIMIT 1"
    ((seq, leaf, ts),) = ledger.rows(place.root, query, session.sid)
    right = {"type": "memory.changed", "seq": seq + 1, "ts": ts, "session": session.sid}
    said = {**right, **changed}
    type_, seq, ts = said.pop("type"), said.pop("seq"), said.pop("ts")
    fields = {"memory": "m", "change": "memory.saved", **said}
    return Run(ChainEnd(seq, leaf.hex()), ts, [Part(type_, ids.entry_id(), fields)])


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, ""),
        ({"type": "action.outcome"}, "signing.type"),
        ({"type": "session.seal"}, "signing.type"),
        ({"session": "gh_" + "0" * 32}, "signing.session"),
        ({"seq": 0}, "signing.place"),
        ({"seq": 99}, "signing.place"),
        ({"ts": 1}, "signing.time"),
        ({"ts": 2**53 - 1}, "signing.time"),
        ({"head": "x"}, "ledger.grammar"),
    ],
    ids=["right", "outcome", "seal", "session", "first", "later", "past", "future", "field"],
)
def test_an_agent_that_asks_the_owner_itself_gets_no_other_signature(
    place: GhostHome, session: Session, changed: dict[str, Any], code: str
) -> None:
    request = {"op": "sign", **run_of(place, session, changed).message()}
    try:
        answer = control.ask(session.sid, request, timeout=5)
    except GhostError as error:
        assert error.code == code
    else:
        assert code == ""
        assert len(answer["signatures"]) == 1  # type: ignore[arg-type]
    assert types(place, session)[-1] == "action.outcome"  # nothing was entered by that


def test_nobody_is_asked_for_a_session_that_ends(place: GhostHome, session: Session) -> None:
    run = run_of(place, session, {})
    evaporate(place, session)
    with pytest.raises(GhostError) as caught:
        control.ask(session.sid, {"op": "sign", **run.message()}, timeout=5)
    assert caught.value.code in {"session.evaporated", "session.no_owner"}
