from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_memory import changing, decisions, links, passive, tasks
from ghost_memory.reader import Rows, opened
from ghost_memory.values import GLOBAL
from support.memory import Store, memory_at


def test_where_there_is_no_database_none_is_made(tmp_path: Path) -> None:
    with opened(tmp_path / "ghost.db") as rows:
        assert rows is None
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_memory_has_nothing_to_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ghost.db")) as connection:
        connection.execute("CREATE TABLE entries (id)")
    with opened(tmp_path / "ghost.db") as rows:
        assert rows is None


def test_a_file_that_is_no_database_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "ghost.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(UnavailableError) as caught, opened(tmp_path / "ghost.db"):
        pass
    assert caught.value.code == "database.unreadable"


def test_an_odd_path_is_a_path_and_nothing_can_be_written(tmp_path: Path) -> None:
    with memory_at(tmp_path / "home") as memory:
        memory.save("zebra")
    odd = shutil.copytree(tmp_path / "home", tmp_path / "a b?mode=rwc#%41")
    with opened(odd / "ghost.db") as rows:
        assert rows is not None
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            rows.ask("DELETE FROM memories", {})


def test_both_connections_read_the_same(memory: Store) -> None:
    fill(memory)
    now = memory.journal.now()

    def all_of(rows: Rows) -> list[object]:
        found = rows.memories("app", limit=9, now=now)
        twins = rows.twins(found.rows, at_least=0.9)
        other = [rows.shared(limit=9, now=now), rows.tasks("app", limit=9)]
        return [found, twins, *other, rows.decisions("app", limit=9), rows.learned("app")]

    with opened(memory.folder / "ghost.db") as rows:
        assert rows is not None
        mine = all_of(rows)
    assert mine == memory.read(lambda c: all_of(passive.over(c)))


def fill(memory: Store) -> None:
    one, two = memory.save("zebra red").id, memory.save("zebra green too").id
    memory.save("for all", GLOBAL)
    memory.write(lambda w: links.link(w, one, two, "related", strength=0.95, source="auto"))
    memory.write(lambda w: tasks.create(w, "app", "write tests"))
    memory.write(
        lambda w: decisions.record(w, "app", title="DB", decision="SQLite", rationale="one file")
    )


def test_unasked_only_what_is_open_and_holds_is_read_but_all_is_counted(memory: Store) -> None:
    old = memory.save("jenkins builds").id
    new = memory.save("robots build instead of a person", supersedes=(old,)).id
    closed = memory.save("the crash was a null date").id
    memory.write(lambda w: changing.resolve(w, "app", [closed]))
    gone = memory.save("valid until yesterday only")
    memory.write(lambda w: changing._set(w, memory.get(gone.id), {"valid_until": w.now}))
    now = memory.journal.now()
    found = memory.read(lambda c: passive.over(c).memories("app", limit=9, now=now))
    assert [each.id for each in found.rows] == [new]
    assert found.total == 3


def test_what_all_share_goes_by_pin_then_importance(memory: Store) -> None:
    for content, importance in (("red", 0.9), ("green", 0.5), ("blue", 0.7)):
        memory.save(content, GLOBAL, importance=importance)
    green = memory.rows("SELECT id FROM memories WHERE content = 'green'")[0]
    memory.write(lambda w: changing.pin(w, GLOBAL, green, pinned=True))
    now = memory.journal.now()
    found = memory.read(lambda c: passive.over(c).shared(limit=9, now=now))
    assert [each.content for each in found.rows] == ["green", "red", "blue"]


def test_only_open_tasks_and_decisions_that_hold_are_read(memory: Store) -> None:
    memory.save("zebra")
    done = memory.write(lambda w: tasks.create(w, "app", "done already"))
    memory.write(lambda w: tasks.complete(w, done.id))
    memory.write(lambda w: tasks.create(w, "app", "low", priority=4))
    memory.write(lambda w: tasks.create(w, "app", "urgent", priority=0))
    first = memory.write(
        lambda w: decisions.record(w, "app", title="one", decision="x", rationale="y")
    )
    memory.write(
        lambda w: decisions.record(
            w, "app", title="two", decision="z", rationale="y", supersedes=first.decision_id
        )
    )
    rows = memory.read(lambda c: passive.over(c).tasks("app", limit=9))
    assert ([each.title for each in rows.rows], rows.total) == (["urgent", "low"], 2)
    chosen = memory.read(lambda c: passive.over(c).decisions("app", limit=9))
    assert ([each.title for each in chosen.rows], chosen.total) == (["two"], 1)


def test_an_edge_from_another_project_hides_nothing(memory: Store) -> None:
    shared, own = memory.save("be brief", GLOBAL).id, memory.save("tabs").id
    foreign = memory.save("be long", "other").id
    for older in (shared, own):
        memory.write(
            lambda w, older=older: links.link(
                w, foreign, older, "supersedes", strength=1.0, source="manual"
            )
        )
    now = memory.journal.now()
    found = memory.read(
        lambda c: (
            passive.over(c).shared(limit=9, now=now).rows,
            passive.over(c).memories("app", limit=9, now=now).rows,
        )
    )
    assert [[each.id for each in kind] for kind in found] == [[shared], [own]]
