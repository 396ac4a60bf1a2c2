"""What was entered cannot be taken back, changed or made up unseen."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.agent import secure_connect
from support.board import Sight, scenario
from support.certs import Certs
from support.home import GhostHome, ghost_home
from support.processes import Outcome, ghost, possess, start
from support.shell import Session, entries, eventually, inside, spawn
from support.upstream import Upstream

CALLS = ("/status/200", "/echo", "/status/201")


@dataclass(frozen=True, slots=True)
class Past:
    """A home with two sealed sessions, and a copy of its database from before the second."""

    home: GhostHome
    first: Session
    last: Session
    earlier: Path


def lived(home: GhostHome, up: Upstream) -> Session:
    """Spawn a session, make its calls and seal it."""
    session = spawn(home, "demo_api")
    ca = home.root / "ca" / "ghost-ca-cert.pem"
    with possess(home, "--session-id", session.sid) as running:
        with secure_connect(running.port, up.authority, session.auth, ca=ca) as tunnel:
            for path in CALLS:
                tunnel.request("POST", path, {"Host": up.authority}, b'{"amount":5000}')
            tunnel.request("DELETE", "/..%2fx", {"Host": up.authority})
        done = inside(home, "evaporate", "--session-id", session.sid)
        assert done.code == 0, done.err
    return session


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream) -> Iterator[Past]:
    """Two sessions that really were."""
    folder = tmp_path_factory.mktemp("past")
    with ghost_home(folder, up, certs) as home:
        first = lived(home, up)
        settle(home.root / "ghost.db")
        earlier = shutil.copy(home.root / "ghost.db", folder / "earlier.db")
        last = lived(home, up)
        settle(home.root / "ghost.db")
        yield Past(home, first, last, Path(earlier))


def settle(file: Path) -> None:
    """Put everything into the one file."""
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@pytest.fixture
def copied(past: Past, tmp_path: Path) -> GhostHome:
    """The home once more, for this test to forge."""
    root = tmp_path / "home"
    shutil.copytree(past.home.root, root)
    for head in (root / "heads").glob("*.head"):
        text = head.read_text("utf-8").replace(str(past.home.root), str(root))
        head.write_text(text, "utf-8")
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    return GhostHome(root, runtime, past.home.port)


def forge(home: GhostHome, *statements: str) -> None:
    """Edit the database with a tool that knows nothing of us, its guards taken out."""
    connection = sqlite3.connect(home.root / "ghost.db", isolation_level=None)
    names = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name != 'sqlite_schema'"
    for (name,) in connection.execute(names).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA foreign_keys = OFF")
    for statement in statements:
        assert connection.execute(statement).rowcount != 0, statement
    connection.close()


def judged(home: GhostHome, sight: Sight, *words: str) -> Outcome:
    """Replay everything and note the verdict."""
    done = inside(home, "replay", *(words or ("--all",)))
    view = json.loads(done.out) if done.out else {}
    sessions = view.get("sessions", [view] if view else [])
    broken = {
        f"{name} {axis['state']}"
        for each in sessions
        for name, axis in each.get("verdict", {}).get("axes", {}).items()
        if axis["state"] in ("invalid", "incomplete")
    }
    said = (
        ", ".join(sorted(broken)) or done.err.strip().splitlines()[-1][:60] if done.code else "ok"
    )
    sight.record.append(f"exit {done.code}: {said}")
    return done


@scenario("honest-ledger", 1, "nothing: the ledger as it was written")
def test_what_was_not_touched_is_verified(copied: GhostHome, sight: Sight) -> None:
    done = judged(copied, sight)
    assert (done.code, done.json["verified"]) == (0, True)


LAST = "(SELECT sid FROM entries WHERE type = 'session.seal' ORDER BY idx DESC LIMIT 1)"
TAIL = scenario(
    "cut-ledger", 1, "the newest rows, the last session or the file deleted; an old copy"
)


@TAIL
@pytest.mark.parametrize("count", [1, 2, 5])
def test_rows_that_are_missing_at_the_end_are_found(
    count: int, copied: GhostHome, sight: Sight
) -> None:
    newest = f"SELECT idx FROM entries ORDER BY idx DESC LIMIT {count}"
    forge(copied, f"DELETE FROM entries WHERE idx IN ({newest})")
    done = judged(copied, sight)
    assert done.code == 7
    assert f"{count} " in done.out + done.err


@TAIL
def test_a_last_session_that_is_missing_is_found(
    past: Past, copied: GhostHome, sight: Sight
) -> None:
    sid = past.last.sid
    forge(
        copied,
        f"DELETE FROM entries WHERE sid = '{sid}'",
        f"DELETE FROM actions WHERE session_id = '{sid}'",
        f"DELETE FROM sessions WHERE session_id = '{sid}'",
    )
    assert judged(copied, sight).code == 7


@TAIL
def test_an_old_copy_of_the_database_is_found(past: Past, copied: GhostHome, sight: Sight) -> None:
    for file in copied.root.glob("ghost.db*"):
        file.unlink()
    shutil.copy(past.earlier, copied.root / "ghost.db")
    done = judged(copied, sight)
    assert done.code == 7


@TAIL
def test_a_database_that_is_gone_is_no_empty_ledger(copied: GhostHome, sight: Sight) -> None:
    for file in copied.root.glob("ghost.db*"):
        file.unlink()
    done = judged(copied, sight)
    assert done.code == 7
    assert "with size" in done.err
    spawned = inside(copied, "spawn", "--intent", "x")
    sight.agent.append(f"spawn: exit {spawned.code}")
    assert spawned.code == 7


EDITS: dict[str, tuple[str, ...]] = {
    "a byte of an entry": (
        'UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), \'"method":"POST"\','
        " '\"method\":\"PUTT\"') AS BLOB) WHERE type = 'action.intent'",
    ),
    "a signature": (
        "UPDATE entries SET sig = zeroblob(length(sig)) WHERE type = 'action.outcome'",
    ),
    "two entries swapped": (
        f"UPDATE entries SET seq = 1000 WHERE sid = {LAST} AND seq = 1",
        f"UPDATE entries SET seq = 1 WHERE sid = {LAST} AND seq = 2",
        f"UPDATE entries SET seq = 2 WHERE sid = {LAST} AND seq = 1000",
    ),
    "an entry in the middle deleted": (f"DELETE FROM entries WHERE sid = {LAST} AND seq = 2",),
    "a denial deleted": (f"DELETE FROM entries WHERE sid = {LAST} AND type = 'action.denied'",),
    "the scope of a session": (
        "UPDATE sessions SET scope = 'everything', scopes = '[\"everything\"]'",
    ),
    "the status of an action": ("UPDATE actions SET status = 'denied' WHERE status = 'executed'",),
    "a column of an entry": (
        "UPDATE entries SET type = 'action.denied' WHERE type = 'action.intent'",
    ),
}


@scenario("edited-ledger", 1, "bytes, rows, order, scope or columns changed with a database tool")
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_found(edit: str, copied: GhostHome, sight: Sight) -> None:
    forge(copied, *EDITS[edit])
    assert judged(copied, sight).code == 7


@scenario("edited-payload", 1, "a stored request exchanged for that of another call")
def test_an_exchanged_payload_is_found(copied: GhostHome, sight: Sight) -> None:
    other = "(SELECT data FROM payloads WHERE field = 'response' LIMIT 1)"
    forge(copied, f"UPDATE payloads SET data = {other} WHERE field = 'params'")
    assert judged(copied, sight, "--all", "--disclose").code == 7


@scenario("signed-anew", 1, "the whole ledger written anew and signed with keys of the forger")
def test_a_ledger_of_other_keys_is_found(
    copied: GhostHome, tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    with ghost_home(tmp_path / "forger", up, certs) as forger:
        forged = lived(forger, up)
        settle(forger.root / "ghost.db")
        for file in copied.root.glob("ghost.db*"):
            file.unlink()
        shutil.copy(forger.root / "ghost.db", copied.root / "ghost.db")
    assert judged(copied, sight).code == 7
    assert judged(copied, sight, "--session-id", forged.sid).code == 7


@scenario(
    "session-states", 1, "a session without calls, one that is open, one whose signer was killed"
)
def test_three_states_have_three_names(tmp_path: Path, certs: Certs, sight: Sight) -> None:
    with ghost_home(tmp_path, certs=certs) as home:
        empty, still = spawn(home), spawn(home)
        assert inside(home, "evaporate", "--session-id", empty.sid).code == 0
        sleeper = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(30)"]
        running = start(home, "run", "--", *sleeper)
        running.wait_line("up")
        killed = inside(home, "session", "list", "--json").json["sessions"][-1]["session_id"]
        running.process.kill()
        running.process.wait(5)
        eventually(
            lambda: inside(home, "session", "show", killed, "--json").json["status"] == "abandoned",
            "an abandoned session",
        )
        seen = {}
        for sid in (empty.sid, still.sid, killed):
            done = inside(home, "replay", "--session-id", sid)
            view = done.json
            assert view["actions_executed"] == 0
            seen[view["status"]] = (done.code, view["verified"])
            sight.record.append(f"{view['status']}: exit {done.code}")
    assert seen == {"sealed": (0, True), "open": (8, False), "abandoned": (8, False)}


@scenario("two-writers", 1, "calls, `act`, `spawn` and `evaporate` of many processes at once")
def test_many_writers_make_one_unbroken_log(
    tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    with ghost_home(tmp_path, up, certs) as home:
        session, other = spawn(home, "demo_api"), spawn(home, "demo_api")
        ca = home.root / "ca" / "ghost-ca-cert.pem"
        with possess(home, "--session-id", session.sid) as running:

            def calls(_: int) -> int:
                with secure_connect(running.port, up.authority, session.auth, ca=ca) as tunnel:
                    for _ in range(5):
                        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
                        assert answer.status == 200
                return 0

            def command(words: list[str]) -> int:
                return ghost(home, *words).code

            act = ["act", "--tool", "demo_api", "--action", "POST /echo", "--params", "{}"]
            commands = [
                [*act, "--session-id", session.sid],
                [*act, "--session-id", other.sid],
                ["spawn", "--intent", "x"],
            ]
            with ThreadPoolExecutor(8) as pool:
                codes = [*pool.map(calls, range(4)), *pool.map(command, commands)]
            assert codes[:4] == [0] * 4
            assert inside(home, "evaporate", "--session-id", session.sid).code == 0
        intents = entries(home, session, "action.intent")
        assert len(intents) == len(entries(home, session, "action.outcome")) == 21
        connection = sqlite3.connect(home.root / "ghost.db")
        count, top = connection.execute("SELECT count(*), max(idx) FROM entries").fetchone()
        connection.close()
        assert count == top + 1
        done = judged(home, sight, "--session-id", session.sid)
        assert done.code == 0
    sight.upstream.append("every call once")


@scenario("other-machine", 2, "a bundle and a key on a machine without the home")
def test_a_bundle_is_verified_with_its_key_alone(
    past: Past, copied: GhostHome, tmp_path: Path, sight: Sight
) -> None:
    file, elsewhere = tmp_path / "one.ghost", tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    assert inside(copied, "bundle", past.last.sid, "-o", str(file)).code == 0
    key = inside(copied, "session", "show", past.last.sid, "--json").json["ephemeral_key"]
    there = GhostHome(elsewhere, elsewhere, 1)
    changed = tmp_path / "changed.ghost"
    changed.write_bytes(file.read_bytes().replace(b"POST", b"PUTT", 1))
    wanted = [(file, ["--key", key], 0), (file, [], 8), (changed, ["--key", key], 7)]
    for path, words, code in wanted:
        done = inside(there, "verify", str(path), *words)
        sight.record.append(f"exit {done.code}")
        assert done.code == code, done.err
    assert not list(elsewhere.iterdir())


@scenario("spreadsheet", 3, "method, intent and path that a spreadsheet would run")
def test_no_cell_of_the_csv_is_a_formula(scene, sight: Sight) -> None:
    for method in ("-DELETE", "+CMD|X", "=1", "@SUM"):
        with scene.tunnel() as tunnel:
            tunnel.send(f"{method} /echo HTTP/1.1\r\nHost: {scene.up.authority}\r\n\r\n".encode())
            tunnel.answer()
    scene.proxy.evaporate(scene.session)
    done = inside(scene.proxy.home, "replay", "--session-id", scene.session.sid, "--format", "csv")
    cells = [cell for row in csv.reader(io.StringIO(done.out)) for cell in row]
    assert cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
    sight.record.append("cells with a ' before them")
