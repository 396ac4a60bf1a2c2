"""What session commands share, where the home cannot be used and where the dead left something."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ghost_cli import sessions
from ghost_core.errors import DeniedError, GhostError, UnavailableError
from ghost_ledger.session.messages import Message
from support.agent import program
from support.home import GhostHome, ghost_home
from support.processes import ghost
from support.shell import entries, eventually, inside, spawn, types

COMMANDS = (
    ("spawn", "--intent", "x"),
    ("possess", "--port", "0"),
    ("act", "--tool", "demo_api", "--action", "echo"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_broken_configuration_is_exit_3_and_its_value_is_not_shown(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    with ghost_home(tmp_path) as broken:
        broken.append('[session]\nttl_seconds = "sk_live_pasted_here"')
        done = inside(broken, "--json", *words)
    assert (done.code, done.error["exit_code"]) == (3, 3)
    assert "session.ttl_seconds" in done.error["message"]
    assert "sk_live_pasted_here" not in done.err


# -- a home that cannot be used ----------------------------------------------------------------------


def bounded() -> list[str]:
    """Return what root runs a command with, so that permissions hold for it as for anybody else."""
    return [program("setpriv"), "--bounding-set", "-all", "--inh-caps", "-all"]


@pytest.fixture
def read_only(lone: GhostHome) -> Iterator[GhostHome]:
    """A home that its user may read and not write."""
    for path in (lone.root, *lone.root.iterdir()):
        path.chmod(path.stat().st_mode & 0o555)
    yield lone
    lone.root.chmod(0o700)


@pytest.mark.parametrize("words", [COMMANDS[0], COMMANDS[1]], ids=lambda words: words[0])
def test_a_home_that_cannot_be_written_is_exit_4_with_a_way_out(
    read_only: GhostHome, words: tuple[str, ...]
) -> None:
    prefix = bounded() if os.getuid() == 0 else []
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "ghost_cli", "--json", *words],
        env=read_only.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    error = json.loads(done.stderr.splitlines()[-1])
    assert error["code"] == "home.unwritable"
    assert "GHOST_HOME" in error["hint"]


def test_a_database_that_another_process_locks_is_named_within_the_busy_time(
    lone: GhostHome,
) -> None:
    spawn(lone)
    with closing(sqlite3.connect(lone.root / "ghost.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        done = ghost(lone, "--json", "spawn", "--intent", "x")
    assert (done.code, done.out) == (4, "")
    assert done.error["code"] == "database.locked"
    assert inside(lone, "spawn", "--intent", "x").code == 0


# -- what the dead left ------------------------------------------------------------------------------


@pytest.mark.proxy
@pytest.mark.parametrize("command", ["spawn", "possess --env", "act"])
def test_a_session_whose_time_is_over_is_sealed_by_the_next_command(
    lone: GhostHome, command: str
) -> None:
    dead, alive = spawn(lone, ttl=1), spawn(lone, "demo_api")
    words = {
        "spawn": ["spawn", "--intent", "x"],
        "possess --env": ["possess", "--env", "--session-id", alive.sid],
        "act": ["act", "--tool", "demo_api", "--action", "echo"],
    }
    eventually(lambda: is_over(lone, dead.sid), "the end of one second")
    assert types(lone, dead) == ["session.spawn"]
    assert inside(lone, *words[command]).code == 0
    assert [each.fields["reason"] for each in entries(lone, dead, "session.closed")] == ["ttl"]
    assert types(lone, dead)[-1] == "session.seal"


def is_over(home: GhostHome, sid: str) -> bool:
    """Whether the proxy would refuse it; asking this seals nothing."""
    from ghost_core.clock import SystemClock
    from ghost_ledger.session import lifetime
    from support.shell import ledger

    with ledger(home) as opened:
        row = opened.session(sid)
    assert row is not None
    return lifetime.expired(row, SystemClock())


# -- pieces ------------------------------------------------------------------------------------------


def test_a_refusal_of_an_unknown_session_is_something_missing() -> None:
    with pytest.raises(GhostError) as caught, sessions.unknown_is_missing():
        raise DeniedError("session x: unknown", code="session.unknown")
    assert (caught.value.exit_code, caught.value.hint) == (4, "ghost session list")


def test_other_refusals_stay_refusals() -> None:
    with pytest.raises(DeniedError), sessions.unknown_is_missing():
        raise DeniedError("session x: expired", code="session.expired")


def _taken() -> UnavailableError:
    return UnavailableError("session: owned by process 1", code="session.owned")


def test_who_is_beaten_to_a_session_asks_who_was_faster(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tries: list[Message | UnavailableError] = [_taken(), {"status": "executed"}]

    def alone() -> Message:
        found = tries.pop(0)
        if isinstance(found, UnavailableError):
            raise found
        return found

    sid = "gh_" + "a" * 32
    assert sessions.asked(sid, {}, timeout=1, alone=alone) == {"status": "executed"}
    tries[:] = [_taken()]
    monkeypatch.setattr(sessions, "OWNER_SECONDS", -1)
    with pytest.raises(UnavailableError):
        sessions.asked(sid, {}, timeout=1, alone=alone)
