"""Every memory against what was entered of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghost_memory import belongings, changing, decisions, importing, projects, reading
from ghost_memory.changing import Fields
from ghost_memory.exporting import exported
from ghost_memory.journal import Change
from ghost_memory.verifying import check
from support.ledger import raw
from support.memory import Store, memory_at


def wrong(memory: Store) -> list[tuple[str, str, str]]:
    found = memory.read(check).wrong
    return [(each.id, each.state, each.why) for each in found]


def test_whatever_is_done_through_our_doors_agrees(memory: Store, tmp_path: Path) -> None:
    one, two = memory.keep("the port is 8402"), memory.keep("answers are short", "other")
    memory.save("the port is 8402")
    memory.save("the port is 8402 in staging")
    memory.write(lambda w: changing.update(w, "app", one.id, Fields(content="it is 9000 ü")))
    memory.write(lambda w: changing.pin(w, "other", two.id, pinned=True))
    memory.write(lambda w: changing.promote(w, "other", two.id))
    memory.write(lambda w: changing.resolve(w, "app", [one.id]))
    memory.write(
        lambda w: decisions.record(w, "app", title="db", decision="SQLite", rationale="one")
    )
    memory.write(lambda w: belongings.merge(w, "other", "app"))
    assert wrong(memory) == []
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(memory.read(lambda c: list(exported(c)))), "utf-8")
    with memory_at(tmp_path / "second") as second:
        importing.bring(second.journal, reading.given(file).records)
        assert wrong(second) == []
        assert second.read(check).memories == memory.read(check).memories == 4
        second.write(lambda w: belongings.delete(w, "app"))
        assert wrong(second) == []


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE memories SET content = 'the port is 9000'", "its text is not the one that was"),
        ("UPDATE memories SET content = content || ' '", "its text is not the one that was"),
        ("UPDATE memories SET content = X'ff'", "its text is not the one that was"),
        ("UPDATE memories SET project_id = '_other'", "lies in '_other', entered for 'app'"),
        ("UPDATE memories SET pinned = 1", "is pinned, entered otherwise"),
        ("UPDATE memories SET resolved_at = created_at", "is resolved, entered otherwise"),
        ("DELETE FROM memories", "is gone, and no entry says so"),
        ("UPDATE payloads SET salt = X'00'", "commitment content: expected a salt of 32 bytes"),
    ],
)
def test_a_change_past_our_doors_is_named(memory: Store, statement: str, why: str) -> None:
    saved = memory.keep("the port is 8402")
    memory.write(lambda w: projects.ensure(w, "_other"))
    with raw(memory.folder) as other:
        other.execute("DROP TRIGGER payloads_update")
        other.execute(statement)
    ((name, state, said),) = wrong(memory)
    assert (name, state) == (saved.id, "broken")
    assert said.startswith(why)


def test_a_memory_that_nobody_entered_is_named(memory: Store) -> None:
    saved = memory.keep("the port is 8402")
    with raw(memory.folder) as other:
        other.execute(
            "INSERT INTO memories (id, project_id, content, digest, created_at, updated_at, source)"
            " SELECT 'planted', project_id, content, digest, created_at, updated_at, source FROM memories"
        )
    assert wrong(memory) == [("planted", "broken", "no entry speaks of it")]
    memory.write(lambda w: changing.delete(w, "app", saved.id))
    with raw(memory.folder) as other:
        other.execute("UPDATE memories SET id = ?", (saved.id,))
    assert wrong(memory) == [(saved.id, "broken", "its last entry says that it was removed")]


def test_what_nobody_can_compare_is_undecided(memory: Store) -> None:
    saved = memory.keep("the port is 8402")
    with raw(memory.folder) as other:
        other.execute("DROP TRIGGER IF EXISTS payloads_delete")
        other.execute("DELETE FROM payloads WHERE field = 'content'")
    ((name, state, why),) = wrong(memory)
    assert (name, state) == (saved.id, "undecided")
    assert why.startswith("the salt of its text is gone")


def test_a_change_of_a_newer_ghost_is_undecided(memory: Store) -> None:
    saved = memory.keep("the port is 8402")
    memory.write(lambda w: w.report(Change(saved.id, "memory.distilled", "app")))
    ((name, state, _),) = wrong(memory)
    assert (name, state) == (saved.id, "undecided")


def test_no_memory_agrees(memory: Store) -> None:
    found = memory.read(check)
    assert (found.memories, found.wrong, found.sessions) == (0, (), ())


def test_the_sessions_that_hold_the_entries_are_named(memory: Store) -> None:
    memory.save("the port is 8402")
    bodies = memory.rows("SELECT body FROM entries WHERE type = 'memory.changed'")
    assert memory.read(check).sessions == (json.loads(bodies[0])["sid"],)
