"""`ghost act`, with a running possess and without one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_cli import act as command
from support.certs import Certs
from support.home import PLACEHOLDER, SECRET, GhostHome, ghost_home
from support.processes import ghost, possess, start
from support.shell import Session, entries, inside, spawn, types
from support.upstream import Upstream

pytestmark = pytest.mark.proxy

ALLOW = "#!/bin/sh\ncat >/dev/null\nexit 0\n"
DENY = "#!/bin/sh\ncat >/dev/null\necho 'not today' >&2\nexit 1\n"


@pytest.fixture(scope="module")
def owned(
    tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream
) -> Iterator[tuple[GhostHome, Session]]:
    """A home whose only session belongs to a running possess."""
    actions = {
        name: {"method": "POST", "path": path, "params": "json"}
        for name, path in {"echo": "/echo", "close": "/close", "leak": "/echo-header"}.items()
    }
    root = tmp_path_factory.mktemp("act")
    with ghost_home(root, up, certs, tools={"demo_api": {"actions": actions}}) as home:
        home.append('[tools.other]\nbase_url = "https://other.example"')
        home.append('[tools.other.actions.read]\nmethod = "GET"\npath = "/"')
        session = spawn(home, "demo_api")
        with possess(home, "--session-id", session.sid):
            yield home, session


def echo(*words: str) -> list[str]:
    return ["act", "--tool", "demo_api", "--action", "echo", *words]


def script(folder: Path, name: str, text: str, *, mode: int = 0o700) -> str:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return str(path)


# -- through the owner -------------------------------------------------------------------------------


def test_the_owner_makes_the_call_with_the_real_secret(
    owned: tuple[GhostHome, Session], up: Upstream
) -> None:
    home, session = owned
    before = len(up.requests)
    done = ghost(home, *echo("--params", '{"amount": 7}'))
    assert done.code == 0, done.err
    document = done.json
    assert (document["status"], document["http_status"]) == ("executed", 200)
    assert document["response"]["body"] == '{"amount":7}'
    assert document["action_id"].startswith("act_")
    assert document["residue_hash"].startswith("sha256_")
    (seen,) = up.requests[before:]
    assert seen.header("authorization") == f"Bearer {SECRET}".encode()
    assert SECRET not in done.out
    outcome = entries(home, session, "action.outcome")[-1]
    assert (outcome.id, outcome.fields["status"]) == (document["action_id"], "executed")


def test_parameters_come_from_a_file_or_from_stdin(
    owned: tuple[GhostHome, Session], tmp_path: Path
) -> None:
    home, _ = owned
    file = tmp_path / "params.json"
    file.write_text('{"from": "file"}')
    named = inside(home, *echo("--params", f"@{file}"))
    piped = inside(home, *echo("--params", "-"), stdin='{"from": "stdin"}')
    assert named.json["response"]["body"] == '{"from":"file"}'
    assert piped.json["response"]["body"] == '{"from":"stdin"}'


@pytest.mark.parametrize("text", ["{", "[1]", "7", "", "[" * 100_000, "{}\udcff"])
def test_parameters_that_are_no_json_object_are_a_wrong_command_line(
    owned: tuple[GhostHome, Session], text: str
) -> None:
    home, _ = owned
    done = inside(home, "--json", *echo("--params", "-"), stdin=text)
    assert (done.code, done.error["code"], done.out) == (2, "act.params", "")
    if text != "{}\udcff":  # a letter that stdin cannot hold is found before
        assert done.error["hint"].startswith("--params '{")


def test_parameters_over_the_limit_are_a_wrong_command_line(
    owned: tuple[GhostHome, Session],
) -> None:
    home, _ = owned
    text = '{"a": "' + "x" * command.PARAMS_LIMIT_BYTES + '"}'
    assert inside(home, *echo("--params", "-"), stdin=text).code == 2


def test_a_parameter_file_that_is_not_there_is_missing(owned: tuple[GhostHome, Session]) -> None:
    home, _ = owned
    done = inside(home, *echo("--params", "@nowhere.json"))
    assert done.code == 4
    assert "nowhere.json" in done.err


@pytest.mark.parametrize("words", [("nothing", "echo"), ("demo_api", "nothing")])
def test_a_tool_or_action_that_nobody_declared_is_a_wrong_command_line(
    owned: tuple[GhostHome, Session], words: tuple[str, str]
) -> None:
    home, _ = owned
    assert inside(home, "act", "--tool", words[0], "--action", words[1]).code == 2


def test_a_tool_out_of_scope_is_denied_and_entered(owned: tuple[GhostHome, Session]) -> None:
    home, session = owned
    done = inside(home, "act", "--tool", "other", "--action", "read")
    assert (done.code, done.json["status"]) == (5, "denied")
    assert done.json["error"]["code"].startswith("scope")
    assert entries(home, session, "action.denied")[-1].id == done.json["action_id"]


def test_a_call_that_got_no_answer_failed(owned: tuple[GhostHome, Session]) -> None:
    home, session = owned
    done = inside(home, "act", "--tool", "demo_api", "--action", "close", "--attempts", "1")
    assert (done.code, done.json["status"]) == (1, "failed")
    assert entries(home, session, "action.outcome")[-1].fields["status"] == "failed"


def test_the_reply_shows_the_stand_in_instead_of_the_secret(
    owned: tuple[GhostHome, Session],
) -> None:
    home, _ = owned
    done = inside(home, "act", "--tool", "demo_api", "--action", "leak")
    assert done.code == 0
    assert SECRET not in done.out
    assert "redacted by ghost" in done.out or PLACEHOLDER in done.out


# -- hooks of one call -------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["--validate-pre", "--validate-post"])
def test_a_hook_that_allows_lets_the_call_and_its_reply_through(
    owned: tuple[GhostHome, Session], tmp_path: Path, stage: str
) -> None:
    home, _ = owned
    done = inside(home, *echo(stage, script(tmp_path, "check", ALLOW)))
    assert (done.code, done.json["status"]) == (0, "executed"), done.out


def test_a_post_hook_that_denies_withholds_the_reply_of_a_call_that_was_made(
    owned: tuple[GhostHome, Session], tmp_path: Path, up: Upstream
) -> None:
    home, _ = owned
    before = len(up.requests)
    done = inside(
        home,
        *echo("--params", '{"a": "reply"}', "--validate-post", script(tmp_path, "check", DENY)),
    )
    assert (done.code, done.json["status"]) == (1, "failed")
    assert done.json["error"]["code"] == "hook.denied"
    assert "reply" not in done.out
    assert len(up.requests) == before + 1


def test_a_pre_hook_that_denies_lets_nothing_out(
    owned: tuple[GhostHome, Session], tmp_path: Path, up: Upstream
) -> None:
    home, _ = owned
    before = len(up.requests)
    done = inside(home, *echo("--validate-pre", script(tmp_path, "check", DENY)))
    assert done.json["status"] == "denied"
    assert len(up.requests) == before


def test_a_hook_that_cannot_be_executed_denies(
    owned: tuple[GhostHome, Session], tmp_path: Path
) -> None:
    home, _ = owned
    done = inside(home, *echo("--validate-pre", script(tmp_path, "check", ALLOW, mode=0o600)))
    assert (done.code, done.json["status"]) == (5, "denied")


@pytest.mark.parametrize("stage", ["--validate-pre", "--validate-post"])
def test_a_hook_that_is_not_there_is_missing(owned: tuple[GhostHome, Session], stage: str) -> None:
    home, _ = owned
    done = inside(home, "--json", *echo(stage, "nowhere.sh"))
    assert (done.code, done.error["code"]) == (4, "hook.missing")


@pytest.mark.parametrize(
    ("stage", "status", "verdict"),
    [
        ("--validate-pre", "executed", "allow"),
        ("--validate-post", "executed", "allow"),
        ("--validate-pre", "denied", "deny"),
        ("--validate-post", "failed", "deny"),
    ],
)
def test_a_url_judges_the_call_and_its_reply(
    owned: tuple[GhostHome, Session], up: Upstream, stage: str, status: str, verdict: str
) -> None:
    home, session = owned
    up.route("/judge", lambda each: each.reply(200, json.dumps({"verdict": verdict}).encode()))
    done = inside(home, *echo(stage, f"{up.url}/judge"))
    code = {"executed": 0, "denied": 5, "failed": 1}[status]
    assert (done.code, done.json["status"]) == (code, status), done.out
    asked = [each for each in up.requests if each.path == "/judge"][-1]
    assert SECRET.encode() not in asked.body
    assert json.loads(asked.body)["session"]["session_id"] == session.sid
    kind = {"executed": "action.outcome", "failed": "action.outcome"}.get(status, "action.denied")
    found = [each for each in entries(home, session) if each.id == done.json["action_id"]]
    verdicts = [
        each
        for entered in found
        for each in entered.fields["verdicts"]  # type: ignore[union-attr]
        if isinstance(each, dict) and each["rule"] == up.url
    ]
    assert found[-1].type == kind
    digest = hashlib.sha256(f"{up.url}/judge".encode()).hexdigest()
    assert [(each["verdict"], each["hash"]) for each in verdicts] == [(verdict, digest)]


# -- which session -----------------------------------------------------------------------------------


def test_without_any_session_the_command_line_is_wrong(lone: GhostHome) -> None:
    (lone.root / "ghost.db").unlink()
    done = inside(lone, "--json", *echo())
    assert (done.code, done.error["code"]) == (2, "usage.session")
    assert "ghost spawn" in done.error["hint"]
    assert not (lone.root / "ghost.db").exists()


def test_among_several_live_sessions_one_must_be_named(lone: GhostHome) -> None:
    spawn(lone, "demo_api")
    spawn(lone, "demo_api")
    done = inside(lone, "--json", *echo())
    assert (done.code, done.error["code"]) == (2, "usage.session")
    assert "2 sessions" in done.error["message"]


def test_the_session_of_the_environment_is_taken(lone: GhostHome) -> None:
    first, second = spawn(lone, "demo_api"), spawn(lone, "demo_api")
    done = inside(lone, *echo(), env={"GHOST_SESSION_ID": second.sid})
    assert done.code == 0, done.err
    assert types(lone, first) == ["session.spawn"]
    assert types(lone, second) == ["session.spawn", "action.intent", "action.outcome"]


def test_inside_a_session_only_it_and_those_below_can_be_named(lone: GhostHome) -> None:
    around, other = spawn(lone, "demo_api"), spawn(lone, "demo_api")
    env = {"GHOST_SESSION_ID": around.sid}
    done = inside(lone, "--json", *echo("--session-id", other.sid), env=env)
    assert (done.code, done.error["code"]) == (5, "session.outside")
    assert types(lone, other) == ["session.spawn"]
    words = ["spawn", "--intent", "x", "--scope", "demo_api"]
    child = inside(lone, *words, env=env).json["session_id"]
    below = inside(lone, *words, env={"GHOST_SESSION_ID": child}).json["session_id"]
    done = inside(lone, *echo("--session-id", below), env=env)
    assert done.code == 0, done.err
    done = inside(
        lone, "--json", *echo("--session-id", around.sid), env={"GHOST_SESSION_ID": child}
    )
    assert done.error["code"] == "session.outside"


def test_outside_of_a_live_session_any_can_be_named(lone: GhostHome) -> None:
    session = spawn(lone, "demo_api")
    env = {"GHOST_SESSION_ID": "gh_" + "0" * 32}
    assert inside(lone, *echo("--session-id", session.sid), env=env).code == 0


def test_a_session_that_nobody_knows_is_missing(lone: GhostHome) -> None:
    spawn(lone, "demo_api")
    done = inside(lone, "--json", *echo("--session-id", "gh_" + "0" * 32))
    assert (done.code, done.error["code"]) == (4, "session.unknown")


def test_a_session_that_ended_refuses(lone: GhostHome) -> None:
    session = spawn(lone, "demo_api")
    assert inside(lone, "evaporate", "--session-id", session.sid).code == 0
    done = inside(lone, "--json", *echo("--session-id", session.sid))
    assert (done.code, done.error["code"]) == (5, "session.evaporated")


# -- without an owner --------------------------------------------------------------------------------


def test_without_an_owner_act_makes_the_call_and_leaves_the_session_as_it_was(
    lone: GhostHome, up: Upstream
) -> None:
    session, before = spawn(lone, "demo_api"), len(up.requests)
    first = ghost(lone, *echo())
    assert first.code == 0, first.err
    assert inside(lone, *echo()).code == 0
    folder = lone.runtime / "ghost_sessions" / session.sid
    assert {path.name for path in folder.iterdir()} >= {"ed25519_key", "lock"}
    assert not (folder / "control.sock").exists()
    assert {each.header("authorization") for each in up.requests[before:]} == {
        f"Bearer {SECRET}".encode()
    }
    assert inside(lone, "evaporate", "--session-id", session.sid).json["actions_executed"] == 2


def test_two_calls_at_once_without_an_owner_are_both_made(lone: GhostHome) -> None:
    session = spawn(lone, "demo_api")
    running = [start(lone, *echo("--session-id", session.sid)) for _ in range(2)]
    codes = [each.process.wait(30) for each in running]
    assert codes == [0, 0], [each.errors for each in running]
    assert types(lone, session).count("action.outcome") == 2


def test_act_and_evaporate_at_once_end_in_a_sealed_session(lone: GhostHome) -> None:
    session = spawn(lone, "demo_api")
    acting = start(lone, *echo("--session-id", session.sid))
    ended = ghost(lone, "evaporate", "--session-id", session.sid)
    assert ended.code == 0, ended.err
    assert acting.process.wait(30) in (0, 1, 4, 5)
    assert types(lone, session)[-1] == "session.seal"
    assert ghost(lone, "replay", "--session-id", session.sid).code == 0
