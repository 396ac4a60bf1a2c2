"""`ghost evaporate`: once or twice, with an owner and without."""

from __future__ import annotations

import pytest

from support.agent import raw_connect, secure_connect
from support.home import GhostHome
from support.processes import ghost, possess, start
from support.shell import entries, eventually, inside, spawn, types
from support.upstream import Upstream

pytestmark = pytest.mark.proxy

FIELDS = {
    "session_id", "status", "lived_for_seconds", "actions_executed", "residue_hash",
    "credentials_rotated", "ephemeral_key_destroyed", "timestamp", "root_signature", "summary",
    "revocation", "memory_scan",
}  # fmt: skip


def test_without_an_owner_the_session_is_sealed_and_its_key_is_gone(place: GhostHome) -> None:
    session = spawn(place, "demo_api")
    done = ghost(place, "evaporate", "--session-id", session.sid)
    assert done.code == 0, done.err
    document = done.json
    assert document.keys() >= FIELDS
    assert (document["session_id"], document["status"]) == (session.sid, "evaporated")
    assert document["ephemeral_key_destroyed"] is True
    assert document["credentials_rotated"] is False
    assert document["memory_scan"] in ("clean", "unsupported")
    assert types(place, session) == ["session.spawn", "session.closed", "session.seal"]
    assert not (place.runtime / "ghost_sessions" / session.sid).exists()
    assert inside(place, "replay", "--session-id", session.sid).code == 0


def test_twice_gives_the_same_answer(place: GhostHome) -> None:
    session = spawn(place)
    first = inside(place, "evaporate", "--session-id", session.sid)
    again = inside(place, "evaporate", "--session-id", session.sid)
    assert (again.code, again.json) == (0, first.json)


def test_the_session_of_the_environment_is_ended(place: GhostHome) -> None:
    session = spawn(place)
    done = inside(place, "evaporate", env={"GHOST_SESSION_ID": session.sid})
    assert done.json["session_id"] == session.sid


def test_without_a_session_the_command_line_is_wrong(place: GhostHome) -> None:
    assert inside(place, "evaporate").code == 2


def test_a_session_that_nobody_knows_is_missing(place: GhostHome) -> None:
    spawn(place)
    done = inside(place, "--json", "evaporate", "--session-id", "gh_" + "0" * 32)
    assert (done.code, done.error["code"]) == (4, "session.unknown")


@pytest.mark.parametrize("sid", ["x", "../../etc", ""])
def test_what_is_no_session_id_is_a_wrong_command_line(place: GhostHome, sid: str) -> None:
    assert inside(place, "evaporate", "--session-id", sid).code == 2


def test_without_a_ledger_there_is_nothing_to_end_and_none_is_made(lone: GhostHome) -> None:
    (lone.root / "ghost.db").unlink()
    done = inside(lone, "--json", "evaporate", "--session-id", "gh_" + "0" * 32)
    assert (done.code, done.error["code"]) == (4, "ledger.missing")
    assert not (lone.root / "ghost.db").exists()


def test_the_owner_ends_it_and_refuses_its_clients_from_then_on(
    lone: GhostHome, up: Upstream
) -> None:
    session, other = spawn(lone, "demo_api"), spawn(lone, "demo_api")
    ca = lone.root / "ca" / "ghost-ca-cert.pem"
    with possess(lone):
        for each in (session, other):
            with secure_connect(lone.port, up.authority, each.auth, ca=ca) as tunnel:
                assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
        first = ghost(lone, "evaporate", "--session-id", session.sid)
        assert first.code == 0, first.err
        assert first.json["actions_executed"] == 1
        assert first.json["summary"] == [
            {"tool": "demo_api", "action": "echo", "status": "executed", "count": 1}
        ]
        assert inside(lone, "evaporate", "--session-id", session.sid).json == first.json
        with raw_connect(lone.port, up.authority, session.auth) as refused:
            assert refused.status == 407
        with secure_connect(lone.port, up.authority, other.auth, ca=ca) as tunnel:
            assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
    assert inside(lone, "replay", "--session-id", session.sid).code == 0


def test_a_call_in_flight_gets_the_grace(lone: GhostHome, up: Upstream) -> None:
    session, before = spawn(lone, "demo_api"), len(up.requests)
    ca = lone.root / "ca" / "ghost-ca-cert.pem"
    with (
        possess(lone, "--session-id", session.sid),
        secure_connect(lone.port, up.authority, session.auth, ca=ca) as tunnel,
    ):
        tunnel.begin("POST", "/slow?ms=700", {"Host": up.authority}, b"{}")
        up.wait_requests(before + 1)
        done = inside(lone, "evaporate", "--session-id", session.sid)
        assert tunnel.answer().status == 200
    assert done.json["summary"][0]["status"] == "executed"
    assert types(lone, session)[-3:] == ["action.outcome", "session.closed", "session.seal"]


def test_without_grace_a_call_in_flight_is_cut_and_its_outcome_entered(
    lone: GhostHome, up: Upstream
) -> None:
    session, before = spawn(lone, "demo_api"), len(up.requests)
    ca = lone.root / "ca" / "ghost-ca-cert.pem"
    with possess(lone, "--session-id", session.sid):
        with secure_connect(lone.port, up.authority, session.auth, ca=ca) as tunnel:
            tunnel.begin("POST", "/slow?ms=60000", {"Host": up.authority}, b"{}")
            up.wait_requests(before + 1)
            done = inside(lone, "evaporate", "--session-id", session.sid, "--grace", "0")
            assert done.code == 0, done.err
            assert tunnel.closed()
        up.drop_connections()
    assert entries(lone, session, "action.outcome")[-1].fields["ended"] == "aborted"
    assert inside(lone, "replay", "--session-id", session.sid).code == 0


def test_an_act_in_flight_is_its_sessions_owner_and_ends_it(lone: GhostHome, up: Upstream) -> None:
    session, before = spawn(lone, "demo_api"), len(up.requests)
    acting = start(
        lone, "act", "--tool", "demo_api", "--action", "wait", "--params", '{"ms": "60000"}'
    )
    try:
        up.wait_until(lambda: len(up._requests) > before, "the call")
    except TimeoutError:
        pytest.fail(f"{acting.lines} {acting.errors}")
    done = ghost(lone, "evaporate", "--session-id", session.sid, "--grace", "0")
    up.drop_connections()
    assert done.code == 0, done.err
    assert acting.process.wait(20) != 0
    assert types(lone, session)[-1] == "session.seal"


def test_a_session_whose_time_is_over_is_sealed_by_the_next_command(lone: GhostHome) -> None:
    session = spawn(lone, ttl=1)
    eventually(lambda: _expired(lone, session.sid), "the end of one second")
    assert inside(lone, "session", "list").code == 0
    closed = entries(lone, session, "session.closed")
    assert [each.fields["reason"] for each in closed] == ["ttl"]
    assert inside(lone, "replay", "--session-id", session.sid).code == 0


def test_what_was_sealed_at_its_expiry_is_answered_from_its_entries(lone: GhostHome) -> None:
    session = spawn(lone, ttl=1)
    eventually(lambda: _expired(lone, session.sid), "the end of one second")
    first = inside(lone, "evaporate", "--session-id", session.sid)
    assert first.code == 0, first.err
    assert first.json.keys() >= FIELDS
    assert first.json["reason"] == "ttl"
    assert inside(lone, "evaporate", "--session-id", session.sid).json == first.json
    residue = inside(lone, "residue", "--session-id", session.sid).json
    assert residue["root_signature"] == first.json["root_signature"]


def test_a_session_whose_key_is_lost_cannot_be_sealed_and_says_so(lone: GhostHome) -> None:
    session = spawn(lone)
    (lone.runtime / "ghost_sessions" / session.sid / "ed25519_key").unlink()
    done = inside(lone, "--json", "evaporate", "--session-id", session.sid)
    assert (done.code, done.error["code"]) == (5, "session.abandoned")
    assert "ghost replay" in done.error["hint"]


def _expired(home: GhostHome, sid: str) -> bool:
    status: str = inside(home, "session", "show", sid, "--json").json["status"]
    return status != "live"
