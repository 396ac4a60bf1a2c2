"""Importing: ids stay, what is there stays, a second time changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghost_memory import binding, changing, decisions, importing, links, projects, reading, tasks
from ghost_memory.changing import Fields
from ghost_memory.exchange import SCHEMA
from ghost_memory.exporting import exported
from ghost_memory.importing import Brought
from ghost_memory.journal import Writing
from ghost_memory.values import GLOBAL
from support.godb import NEW, OLD, go_database
from support.ledger import differences
from support.memory import PROJECT, SECRET, Store, memory_at


def export(memory: Store, file: Path) -> bytes:
    data = memory.read(lambda c: "".join(f"{line}\n" for line in exported(c))).encode()
    file.write_bytes(data)
    return data


def bring(memory: Store, file: Path) -> Brought:
    return importing.bring(memory.journal, reading.given(file).records)


def test_an_export_comes_back_byte_for_byte(tmp_path: Path) -> None:
    with memory_at(tmp_path / "one") as memory:
        one = memory.save("the port is 8402 数据库", tags=("net",)).id
        two = memory.save("we moved to 9000", supersedes=(one,)).id
        memory.write(lambda w: links.unlink(w, two, one, "supersedes"))
        memory.write(lambda w: changing.resolve(w, PROJECT, [two]))
        memory.write(lambda w: tasks.create(w, PROJECT, "a task"))
        old = memory.write(
            lambda w: decisions.record(w, PROJECT, title="t", decision="d", rationale="r")
        )
        memory.write(
            lambda w: decisions.record(
                w, PROJECT, title="u", decision="e", rationale="s", supersedes=old.decision_id
            )
        )
        memory.write(lambda w: binding.bind(w, PROJECT, tmp_path))
        data = export(memory, tmp_path / "export.jsonl")
    with memory_at(tmp_path / "two") as memory:
        found = bring(memory, tmp_path / "export.jsonl")
        counts = json.loads(data.splitlines()[0])["records"]
        assert found.new == {name: count for name, count in counts.items() if count}
        assert export(memory, tmp_path / "again.jsonl") == data
        assert memory.rows(
            "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH '\"据库\"'"
        ) == [1]
        again = bring(memory, tmp_path / "export.jsonl")
        assert (sum(again.new.values()), sum(again.skipped.values())) == (0, 0)
        assert again.existing == found.new
        assert differences(memory.recorder.engine) == []


def test_every_imported_record_is_an_entry(memory: Store, tmp_path: Path) -> None:
    bring(memory, go_database(tmp_path / "ghost.db"))
    kinds = memory.kinds()
    assert kinds.count("memory.imported") == 3
    assert kinds.count("project.imported") == 3
    assert kinds.count("link.imported") == 1
    before = len(kinds)
    bring(memory, tmp_path / "ghost.db")
    assert len(memory.kinds()) == before


def test_a_database_of_the_origin_comes_whole(memory: Store, tmp_path: Path) -> None:
    found = bring(memory, go_database(tmp_path / "ghost.db"))
    assert dict(found.new) == {
        "project": 3, "checkout": 1, "state": 1, "memory": 3, "link": 1, "task": 2, "decision": 2,
        "snapshot": 1,
    }  # fmt: skip
    assert dict(found.skipped) == {"link": 1}
    old = memory.get(OLD.lower()[:8])
    assert (old.id, old.pinned, old.tags, old.access_count) == (OLD, True, ("net", "ports"), 3)
    assert (old.created_at, old.updated_at) == (
        "2026-01-03T00:00:00.000000Z",
        "2026-01-04T00:00:00.000000Z",
    )
    assert memory.get(NEW).resolved_at == "2026-04-01T00:00:00.000000Z"
    assert memory.read(lambda c: links.replacements(c, [OLD])) == {OLD: NEW}
    assert memory.rows("SELECT blocked_by FROM tasks WHERE title = 'first'") == ["1B" * 16]
    assert memory.rows("SELECT superseded_by FROM decisions WHERE title = 'old'") == ["2B" * 16]
    assert memory.rows("SELECT learned_context FROM ghost_state") == ["a web shop"]
    shop = memory.read(lambda c: projects.find(c, "/home/dev/src/shop/deep/down"))
    assert shop is not None
    assert shop.name == "shop"


def test_what_is_there_stays_as_it_is(memory: Store, tmp_path: Path) -> None:
    bring(memory, go_database(tmp_path / "ghost.db"))
    memory.write(lambda w: changing.update(w, "shop", OLD, Fields(content="said otherwise")))
    memory.write(lambda w: changing.delete(w, "shop", NEW))
    found = bring(memory, tmp_path / "ghost.db")
    assert memory.get(OLD).content == "said otherwise"
    assert dict(found.new) == {"memory": 1, "link": 1}


def test_a_project_of_the_same_name_is_the_one_that_is_there(memory: Store, tmp_path: Path) -> None:
    memory.save("of ours", project="shop")
    found = bring(memory, go_database(tmp_path / "ghost.db"))
    assert (found.existing["project"], found.new["project"]) == (1, 2)
    assert memory.get(OLD).project_id == "shop"
    again = bring(memory, tmp_path / "ghost.db")
    assert sum(again.new.values()) == 0
    assert memory.read(lambda c: projects.find(c, "shop")) is not None


def test_a_preview_says_what_would_come(memory: Store, tmp_path: Path) -> None:
    records = reading.given(go_database(tmp_path / "ghost.db")).records
    seen: list[Brought] = []

    def look(writing: Writing) -> None:
        seen.append(importing.tried(writing, records))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        memory.write(look)
    assert memory.rows("SELECT count(*) FROM memories") == [0]
    assert seen == [importing.bring(memory.journal, records)]


def test_no_secret_comes_in(memory: Store, tmp_path: Path) -> None:
    lines = [
        {"schema": SCHEMA},
        {"type": "project", "id": SECRET, "name": SECRET, "path": f"/x/{SECRET}"},
        {
            "type": "memory",
            "id": "0A" * 16,
            "project_id": SECRET,
            "content": f"is {SECRET}",
            "tags": [SECRET],
        },
        {
            "type": "state",
            "project_id": SECRET,
            "learned_context": SECRET,
            "reflection_summary": SECRET,
        },
        {
            "type": "task",
            "id": "0B" * 16,
            "project_id": SECRET,
            "title": SECRET,
            "notes": SECRET,
            "branch": SECRET,
        },
        {
            "type": "decision",
            "id": "0C" * 16,
            "project_id": SECRET,
            "title": SECRET,
            "decision": SECRET,
        },
        {"type": "snapshot", "snapshot_id": "s", "project_id": SECRET, "content": SECRET},
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = bring(memory, tmp_path / "x.jsonl")
    assert sum(found.new.values()) == 6
    memory.recorder.sync_head()
    assert SECRET.encode() not in memory.on_disk()


def test_many_records_come_in_several_transactions(memory: Store, tmp_path: Path) -> None:
    count = 2 * importing.AT_ONCE + 7
    lines = [{"schema": SCHEMA}, {"type": "project", "id": "app"}]
    lines += [
        {"type": "memory", "id": f"{number:032x}", "project_id": "app", "content": f"text {number}"}
        for number in range(count)
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert bring(memory, tmp_path / "x.jsonl").new["memory"] == count
    assert memory.rows("SELECT count(*) FROM memories") == [count]


def test_a_record_without_its_project_is_skipped(memory: Store, tmp_path: Path) -> None:
    lines = [
        {"schema": SCHEMA},
        {"type": "memory", "id": "0A" * 16, "project_id": "none", "content": "x"},
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert dict(bring(memory, tmp_path / "x.jsonl").skipped) == {"memory": 1}
    assert memory.kinds() == []


def test_no_file_passes_for_the_project_that_all_share(memory: Store, tmp_path: Path) -> None:
    lines = [
        {"schema": SCHEMA},
        {"type": "project", "id": "evil", "name": GLOBAL},
        {"type": "project", "id": GLOBAL, "path": str(tmp_path), "repo_remote": "a.example/b"},
        {"type": "checkout", "path": str(tmp_path), "project_id": GLOBAL},
    ]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(reading.given(tmp_path / "x.jsonl").problems) == 2
    bring(memory, tmp_path / "x.jsonl")
    assert memory.rows("SELECT id || path FROM projects") == [GLOBAL * 2]
    assert memory.rows("SELECT count(*) FROM project_checkouts") == [0]


def test_no_file_binds_what_all_share(memory: Store, tmp_path: Path) -> None:
    paths = ["/", "/tmp", "/root", "/usr", "app/src", "/app"]
    lines = [{"schema": SCHEMA}, {"type": "project", "id": "app", "name": "app"}]
    lines += [{"type": "checkout", "path": each, "project_id": "app"} for each in paths]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    bring(memory, tmp_path / "x.jsonl")
    assert memory.rows("SELECT path FROM project_checkouts") == ["/app"]
