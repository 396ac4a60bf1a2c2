"""An export: complete, readable, the same bytes for the same memory."""

from __future__ import annotations

import json

from ghost_memory import changing, decisions, links, tasks
from ghost_memory.exchange import KINDS, SCHEMA
from ghost_memory.exporting import exported
from support.memory import PROJECT, Store


def lines(memory: Store, project: str | None = None) -> list[str]:
    return memory.read(lambda connection: list(exported(connection, project)))


def fill(memory: Store) -> None:
    """Save something of every kind that a command can make."""
    one = memory.save("the port is 8402 «数据库»", tags=("net",)).id
    two = memory.save("we moved to 9000", supersedes=(one,)).id
    memory.save("of another project", project="other")
    memory.write(lambda w: changing.pin(w, PROJECT, two, pinned=True))
    memory.write(lambda w: links.link(w, one, two, "causes", strength=0.3, source="manual"))
    memory.write(lambda w: tasks.create(w, PROJECT, "write a test"))
    memory.write(
        lambda w: decisions.record(
            w, PROJECT, title="t", decision="d", rationale="r", alternatives=["a"]
        )
    )


def test_the_header_names_form_and_counts(memory: Store) -> None:
    fill(memory)
    header = json.loads(lines(memory)[0])
    assert header["schema"] == SCHEMA
    assert header["records"] == {
        "project": 2, "checkout": 0, "state": 0, "memory": 4, "link": 2, "task": 1, "decision": 1,
        "snapshot": 0,
    }  # fmt: skip


def test_every_row_is_a_line_with_its_id(memory: Store) -> None:
    fill(memory)
    found = [json.loads(line) for line in lines(memory)[1:]]
    assert [each["id"] for each in found if each["type"] == "memory"] == memory.rows(
        "SELECT id FROM memories ORDER BY seq"
    )
    (first,) = [each for each in found if each.get("content") == "the port is 8402 «数据库»"]
    assert (first["tags"], first["pinned"]) == (["net"], False)
    assert {each["type"] for each in found} <= {kind.name for kind in KINDS}
    assert "digest" not in first


def test_the_same_memory_gives_the_same_bytes(memory: Store) -> None:
    fill(memory)
    before = lines(memory)
    memory.clock.pass_seconds(1000)
    assert lines(memory) == before


def test_one_project_comes_alone(memory: Store) -> None:
    fill(memory)
    found = [json.loads(line) for line in lines(memory, "other")[1:]]
    assert [each["type"] for each in found] == ["project", "memory"]
    assert json.loads(lines(memory, "other")[0])["records"]["link"] == 0


def test_no_memory_is_a_header(memory: Store) -> None:
    assert len(lines(memory)) == 1
