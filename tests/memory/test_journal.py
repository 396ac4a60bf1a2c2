"""The door: rows and the entry that says so, together or neither."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core import ids as core_ids
from ghost_core.errors import GhostError, UnavailableError
from ghost_ledger import commitment, entry
from ghost_ledger.reader import Ledger
from ghost_memory import belongings, binding, changing, decisions, links, saving, tasks
from ghost_memory.changing import Fields
from ghost_memory.journal import Change, Journal, Who, Writing
from ghost_memory.saving import Note
from support.ledger import differences, raw, rows
from support.memory import PROJECT, Store, memory_at

ANY = st.text(st.characters(), max_size=80)


def test_every_kind_of_change_is_an_entry(memory: Store, tmp_path: Path) -> None:
    first = memory.save("the port is 8402").id
    second = memory.save("the retry limit is five").id
    memory.write(lambda w: changing.update(w, PROJECT, first, Fields(importance=0.9)))
    memory.write(lambda w: changing.pin(w, PROJECT, first, pinned=True))
    memory.write(lambda w: changing.pin(w, PROJECT, first, pinned=False))
    memory.write(lambda w: changing.resolve(w, PROJECT, [second]))
    memory.write(lambda w: changing.promote(w, PROJECT, first))
    memory.save("the port is 8402", project="_global")
    memory.write(lambda w: links.link(w, first, second, "causes", strength=0.5, source="manual"))
    memory.write(lambda w: links.unlink(w, first, second, "causes"))
    memory.write(lambda w: changing.delete(w, PROJECT, second))
    task = memory.write(lambda w: tasks.create(w, PROJECT, "write a test")).id
    memory.write(lambda w: tasks.complete(w, task))
    memory.write(
        lambda w: decisions.record(w, PROJECT, title="port", decision="8402", rationale="free")
    )
    folder = tmp_path / "checkout-of-app"
    folder.mkdir()
    memory.write(lambda w: binding.bind(w, PROJECT, folder))
    memory.save("something else", project="other")
    memory.write(lambda w: belongings.merge(w, "other", PROJECT))
    memory.write(lambda w: belongings.delete(w, PROJECT))
    assert memory.kinds() == [
        "project.created",
        "memory.saved",
        "memory.saved",
        "memory.updated",
        "memory.pinned",
        "memory.unpinned",
        "memory.resolved",
        "memory.promoted",
        "memory.seen",
        "link.causes",
        "unlink.causes",
        "memory.deleted",
        "task.created",
        "task.updated",
        "memory.saved",
        "decision.recorded",
        "project.bound",
        "project.created",
        "memory.saved",
        "project.merged",
        "project.deleted",
    ]


def test_an_entry_commits_to_the_text_and_does_not_hold_it(memory: Store) -> None:
    kept = memory.keep("the port is 8402")
    (found,) = [each for each in memory.changes() if each["change"] == "memory.saved"]
    assert (found["memory"], found["project"], found["by"]) == (kept.id, PROJECT, "test")
    (payload,) = memory.rows("SELECT salt, data FROM payloads WHERE field = 'content'")
    assert commitment.check("content", payload[0], b"the port is 8402", found["content"])
    assert payload[1] is None
    assert "8402" not in json.dumps(memory.changes())


def test_what_fails_leaves_neither_row_nor_entry(memory: Store) -> None:
    before = memory.rows("SELECT count(*) FROM entries")

    def fail(writing: Writing) -> None:
        saving.save(writing, "fresh", Note("a text that must not stay"))
        raise ZeroDivisionError

    memory.journal.write(lambda writing: None)  # opens the system session
    with pytest.raises(ZeroDivisionError):
        memory.write(fail)
    assert memory.rows("SELECT count(*) FROM memories") == [0]
    assert memory.rows("SELECT count(*) FROM projects WHERE id = 'fresh'") == [0]
    assert memory.rows("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'stay'") == [0]
    assert memory.kinds() == []
    assert memory.rows("SELECT count(*) FROM entries") == before


def test_an_entry_that_cannot_be_made_takes_the_rows_with_it(memory: Store) -> None:
    def odd(writing: Writing) -> None:
        saving.save(writing, PROJECT, Note("a text that must not stay"))
        writing.report(Change("x", "k" * 65))

    with pytest.raises(GhostError):
        memory.write(odd)
    assert memory.rows("SELECT count(*) FROM memories") == [0]
    assert memory.kinds() == []


def test_after_a_failure_the_next_change_is_made(memory: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        memory.write(lambda w: 1 // 0)
    memory.save("still works")
    assert memory.rows("SELECT content FROM memories") == ["still works"]


def test_a_lock_that_stays_is_an_error_and_nothing_is_kept(home: Path) -> None:
    with memory_at(home, busy_seconds=0.05) as memory:
        memory.save("first")
        with raw(home) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(UnavailableError) as caught:
                memory.save("second")
            other.execute("ROLLBACK")
        assert caught.value.code == "database.locked"
        memory.save("third")
        assert memory.rows("SELECT content FROM memories ORDER BY seq") == ["first", "third"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(ANY, ANY, ANY)
def test_no_name_of_a_client_stops_a_save(memory: Store, by: str, host: str, session: str) -> None:
    journal = Journal(memory.recorder, memory.clock, Who(by, host, session))
    journal.write(lambda writing: saving.save(writing, PROJECT, Note("the port is 8402")))
    body = memory.rows("SELECT body FROM entries WHERE type = 'memory.changed' ORDER BY idx")[-1]
    assert entry.parse(body).fields["change"] in {"memory.saved", "memory.seen"}


def test_who_and_where_are_entered(home: Path) -> None:
    session = core_ids.session_id()
    with memory_at(home, who=Who("mcp", "claude-code", session)) as memory:
        kept = memory.keep("the port is 8402")
    found = memory.changes()[-1]
    assert (found["by"], found["host"], found["session"]) == ("mcp", "claude-code", session)
    assert (kept.agent, kept.session_id) == ("claude-code", session)


def test_the_audit_log_shows_every_change(memory: Store) -> None:
    kept = memory.keep("the port is 8402")
    found = memory.rows(
        "SELECT timestamp, action, project_id, user, details FROM audit_log ORDER BY id"
    )
    assert [each[1:4] for each in found] == [
        ("project.created", PROJECT, "test"),
        ("memory.saved", PROJECT, "test"),
    ]
    assert found[-1][0] == kept.created_at == memory.journal.now()
    assert json.loads(found[-1][4])["memory"] == kept.id


def test_the_log_verifies_with_changes_of_memory(memory: Store) -> None:
    for number in range(5):
        memory.save(f"memory number {number} of this test")
    assert differences(memory.recorder.engine) == []
    assert len(Ledger(memory.recorder.engine).sessions(system=True)) >= 1


def test_a_deleted_text_is_nowhere(home: Path) -> None:
    secret = "xylophonequartz"
    with memory_at(home) as memory:
        kept = memory.keep(
            f"the word {secret} and 数据库连接池 among others", tags=(f"tag-{secret}",)
        )
        for number in range(20):
            memory.save(f"another text {number} with words of its own")
        assert secret.encode() in memory.on_disk()
        memory.write(lambda w: changing.delete(w, PROJECT, kept.id))
        memory.recorder.sync_head()
    disk = memory.on_disk()
    assert b"another text 7" in disk
    for trace in (secret, "xylophonequ", "数据库", "据库"):
        assert trace.encode() not in disk, trace


def test_a_replaced_text_is_nowhere(home: Path) -> None:
    with memory_at(home) as memory:
        kept = memory.keep("the word xylophonequartz is here", tags=("zitherbassoon",))
        memory.save("another text that stays")
        new = Fields(content="now the word is other", tags=())
        memory.write(lambda w: changing.update(w, PROJECT, kept.id, new))
    assert b"xylophonequartz" not in memory.on_disk()
    assert b"zitherbassoon" not in memory.on_disk()


def test_a_deleted_project_is_nowhere(home: Path) -> None:
    with memory_at(home) as memory:
        memory.save("the word xylophonequartz is here")
        memory.save("another text that stays", project="other")
        memory.write(lambda w: tasks.create(w, PROJECT, "zitherbassoon"))
        memory.write(lambda w: belongings.delete(w, PROJECT))
        memory.rows("INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)")
    for trace in (b"xylophonequartz", b"zitherbassoon"):
        assert trace not in memory.on_disk()


WRITER = """
import sys
from pathlib import Path
from support.memory import memory_at
sys.stdin.readline()
with memory_at(Path(sys.argv[1]), busy_seconds=30) as memory:
    for number in range(int(sys.argv[3])):
        memory.save(f"process {sys.argv[2]} wrote line {number} with token{sys.argv[2]}x{number}")
"""


def writers(home: Path, processes: int, writes: int) -> None:
    """Let several processes write at once, and look at what they left."""
    with memory_at(home):
        pass
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(home), str(number), str(writes)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        for number in range(processes)
    ]
    ended = []
    for each in running:
        assert each.stdin is not None
        each.stdin.write(b"\n")
        each.stdin.flush()
    for each in running:
        _, errors = each.communicate(timeout=300)
        ended.append((each.returncode, errors.decode()))
    assert ended == [(0, "")] * processes
    with memory_at(home) as memory:
        assert memory.rows("SELECT count(DISTINCT content) FROM memories") == [processes * writes]
        assert memory.kinds().count("memory.saved") == processes * writes
        assert memory.rows("PRAGMA integrity_check") == ["ok"]
        memory.rows("INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)")
        assert differences(memory.recorder.engine) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_processes_that_write_at_once_lose_nothing(home: Path) -> None:
    writers(
        home, processes=8, writes=int(os.environ.get("MEMORY_WRITES", "10"))
    )  # 200 take a minute


KILLED = """
import sys
from pathlib import Path
from support.memory import memory_at
with memory_at(Path(sys.argv[1])) as memory:
    for number in range(100000):
        memory.save(f"line {number} with token{number}")
        print(number, flush=True)
"""


@pytest.mark.slow
def test_killed_in_the_middle_of_writing_it_reopens_whole(home: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for round_ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(home)], stdout=subprocess.PIPE, env=environment
        )
        assert process.stdout is not None
        for _ in range(8 + round_):
            said = process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
        process.stdout.close()
        with memory_at(home) as memory:
            memory.save(f"after round {round_}")
            assert int(said) + 1 <= memory.rows("SELECT count(*) FROM memories")[0]
            assert memory.rows("PRAGMA integrity_check") == ["ok"]
            memory.rows("INSERT INTO memories_fts(memories_fts, rank) VALUES('integrity-check', 1)")
            saved = memory.kinds().count("memory.saved")
            assert memory.rows("SELECT count(*) FROM memories") == [saved]
            assert differences(memory.recorder.engine) == []


def test_rows_of_a_home_can_be_read_from_outside(memory: Store) -> None:
    memory.save("the port is 8402")
    assert rows(memory.folder, "SELECT content FROM memories") == ["the port is 8402"]
