"""What belongs to a project: merging and deleting it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import DeniedError, GhostError, NotFoundError, UsageError
from ghost_memory import belongings, changing, decisions, links, tasks
from ghost_memory.values import GLOBAL
from support.memory import Store
from support.repositories import repository


def full(memory: Store) -> tuple[str, str]:
    """Fill two projects with everything that belongs to one."""
    one = memory.save("the port is 8402", project="old").id
    two = memory.save("the retry limit is five", project="old").id
    memory.save("something of its own", project="new")
    memory.write(lambda w: changing.pin(w, "old", one, pinned=True))
    memory.write(lambda w: links.link(w, one, two, "causes", strength=0.5, source="manual"))
    memory.write(lambda w: tasks.create(w, "old", "a task"))
    memory.write(lambda w: decisions.record(w, "old", title="t", decision="d", rationale="r"))
    for project, context in (("old", "learned here"), ("new", "learned there")):
        memory.write(
            lambda w, p=project, c=context: w.connection.exec_driver_sql(
                "INSERT INTO ghost_state (project_id, interaction_count, learned_context, updated_at)"
                " VALUES (?, 3, ?, ?)",
                (p, c, w.now),
            )
        )
    memory.write(
        lambda w: w.connection.exec_driver_sql(
            "INSERT INTO memory_snapshots (snapshot_id, project_id, memory_id, category, content,"
            " importance, source, tags, created_at) VALUES ('s', 'old', ?, 'fact', 'x', 0.5, 'mcp', '[]', ?)",
            (one, w.now),
        )
    )
    memory.write(
        lambda w: w.connection.exec_driver_sql(
            "INSERT INTO token_usage (project_id, model, created_at) VALUES ('old', 'm', ?)",
            (w.now,),
        )
    )
    return one, two


COUNTS = {
    "memories": 3,
    "tasks": 1,
    "decisions": 1,
    "memory_snapshots": 1,
    "token_usage": 1,
    "memory_links": 1,
}


def test_merging_moves_everything(memory: Store, tmp_path: Path) -> None:
    one, _ = full(memory)
    root = repository(tmp_path / "old-folder", "https://example.com/team/app")
    memory.bind("old", root)
    assert memory.write(lambda w: belongings.merge(w, "old", "new")) == COUNTS
    assert memory.rows("SELECT id, path, repo_remote FROM projects") == [
        ("new", str(root), "example.com/team/app")
    ]
    for table in belongings.OWNED:
        assert memory.rows(f"SELECT DISTINCT project_id FROM {table}") == ["new"], table
    assert memory.get(one).pinned
    assert memory.rows("SELECT count(*) FROM memory_links WHERE invalidated_at IS NULL") == [1]
    assert memory.rows("SELECT interaction_count, learned_context FROM ghost_state") == [
        (6, "learned there\nlearned here")
    ]
    assert memory.project_of(root) == "new"
    assert memory.changes()[-1]["reason"] == "into new"


def test_the_paths_of_both_projects_lead_to_the_one_that_stays(
    memory: Store, tmp_path: Path
) -> None:
    roots = [
        repository(tmp_path / each, f"https://example.com/{each}")
        for each in ("old-one", "new-one")
    ]
    memory.bind("old", roots[0])
    memory.bind("new", roots[1])
    memory.write(lambda w: belongings.merge(w, "old", "new"))
    assert [memory.project_of(root) for root in roots] == ["new", "new"]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (GLOBAL, "app", DeniedError),
        ("app", GLOBAL, DeniedError),
        ("app", "app", UsageError),
        ("app", "none", NotFoundError),
        ("none", "app", NotFoundError),
    ],
)
def test_what_cannot_be_merged_stays(
    memory: Store, old: str, new: str, error: type[GhostError]
) -> None:
    memory.save("text")
    memory.save("text", project=GLOBAL)
    with pytest.raises(error):
        memory.write(lambda w: belongings.merge(w, old, new))
    assert memory.rows("SELECT count(*) FROM memories WHERE project_id IN ('app', '_global')") == [
        2
    ]


def test_deleting_says_what_went(memory: Store) -> None:
    full(memory)
    assert memory.write(lambda w: belongings.delete(w, "old")) == COUNTS
    assert memory.rows("SELECT id FROM projects") == ["new"]
    assert memory.rows("SELECT content FROM memories") == ["something of its own"]
    assert memory.rows("SELECT count(*) FROM token_usage") == [0]
    with pytest.raises(NotFoundError):
        memory.write(lambda w: belongings.delete(w, "old"))


def test_the_shared_project_is_never_deleted(memory: Store) -> None:
    memory.save("text", project=GLOBAL)
    with pytest.raises(DeniedError) as caught:
        memory.write(lambda w: belongings.delete(w, GLOBAL))
    assert caught.value.code == "project.protected"
