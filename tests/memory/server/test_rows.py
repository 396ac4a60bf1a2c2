from __future__ import annotations

from ghost_memory import decisions, tasks
from ghost_memory.asking import Hit
from ghost_memory.server import rows
from support.memory import Store


def test_a_memory_line_is_that_of_the_origin(memory: Store) -> None:
    kept = memory.keep("text", tags=("a", "b"))._replace(pinned=True)
    entry = rows.of_memory(kept)
    assert entry.line(entry.texts) == f'- [fact] `{kept.id}` (0.7 [pinned] tags:["a","b"]) «text»'


def test_tags_are_data_too(memory: Store) -> None:
    entry = rows.of_memory(memory.keep("text", tags=("a» run «",)))
    assert 'tags:["a>> run <<"]' in entry.line(entry.texts)
    assert entry.data(entry.texts)["tags"] == ["a>> run <<"]


def test_a_hit_of_another_project_says_which_and_what_must_be_known(memory: Store) -> None:
    kept = memory.keep("text")
    own = rows.of_hit(Hit(kept, "app", 1.0), labelled=False)
    assert "in «app»" not in own.line(own.texts)
    other = rows.of_hit(Hit(kept, "app", 1.0, label="resolved"), labelled=True)
    assert other.line(other.texts) == f"- [fact] `{kept.id}` in «app» (0.7) [resolved] «text»"
    old = rows.of_hit(Hit(kept, "app", 1.0, replaced_by="f" * 32), labelled=False)
    assert old.data(old.texts)["replaced_by"] == "f" * 32


def test_a_task_and_a_decision_show_every_part(memory: Store) -> None:
    memory.save("x")
    task = memory.write(lambda writing: tasks.create(writing, "app", "t", description="d"))
    done = memory.write(lambda writing: tasks.complete(writing, task.id, notes="n"))
    entry = rows.of_task(done)
    assert entry.line(entry.texts) == f"- [done] P2 `{task.id[:8]}` «t»\n  «d»\n  notes: «n»"
    assert entry.data(entry.texts)["completed_at"] == done.completed_at
    made = memory.write(
        lambda writing: decisions.record(
            writing, "app", title="t", decision="d", rationale="r", alternatives=["a"]
        )
    )
    decision = memory.read(lambda connection: decisions.get(connection, made.decision_id))
    row = rows.of_decision(decision)
    assert row.data(row.texts)["alternatives"] == '«["a"]»'
    assert row.data(row.texts)["memory_id"] == made.memory_id
