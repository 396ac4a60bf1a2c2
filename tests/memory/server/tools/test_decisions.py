from __future__ import annotations

from ghost_memory.server.answer import Answer
from support.mcp import Calls
from support.memory import Store


def recorded(call: Calls, title: str = "database", **more: object) -> Answer:
    parts = {"decision": "SQLite", "rationale": "no server", **more}
    return call("ghost_decision_record", project_id="app", title=title, **parts)


def test_a_decision_names_both_ids_and_what_each_is_for(call: Calls, memory: Store) -> None:
    call.save("x")
    made = recorded(call, alternatives=["PostgreSQL"], tags=["db"])
    assert f"decision_id: {made.data['decision_id']}" in made.text
    kept = memory.get(str(made.data["memory_id"]))
    assert kept.content == "database: SQLite. Rationale: no server"
    assert (kept.category, kept.source, kept.importance) == ("decision", "decision_log", 0.9)


def test_decisions_are_listed_with_reasons_and_alternatives(call: Calls) -> None:
    call.save("x")
    made = recorded(call, alternatives=["PostgreSQL", "files"])
    assert call("ghost_decisions_list", project_id="app").text == (
        "### «database»\nDecision: «SQLite»\nRationale: «no server»\n"
        'Alternatives rejected: «["PostgreSQL", "files"]»\n'
        f"Status: active (id: {made.data['decision_id']})"
    )


def test_a_reversed_decision_sinks_and_points_to_the_new_one(call: Calls) -> None:
    call.save("x")
    old = recorded(call)
    new = recorded(call, decision="PostgreSQL", supersedes=old.data["decision_id"])
    listed = call("ghost_decisions_list", project_id="app")
    rows = listed.data["decisions"]
    assert isinstance(rows, list)
    assert [row["status"] for row in rows] == ["active", "superseded"]
    assert rows[1]["superseded_by"] == new.data["decision_id"]
    found = call("ghost_memory_search", project_id="app", query="database SQLite").text
    assert f"[replaced by `{new.data['memory_id']}`]" in found


def test_an_older_decision_that_does_not_exist_is_a_warning(call: Calls) -> None:
    call.save("x")
    made = recorded(call, supersedes="0000abcd")
    assert "WARNING: the older decision was not marked" in made.text
    assert made.data["warning"]


def test_a_decision_that_holds_for_now_is_found_by_its_status(call: Calls) -> None:
    call.save("x")
    recorded(call, "queue")
    recorded(call, "cache", status="revisit")
    listed = call("ghost_decisions_list", project_id="app", status="revisit")
    assert listed.data["total"] == 1
    assert "«cache»" in listed.text
    said = call.refused(
        "ghost_decision_record",
        project_id="app", title="t", decision="d", rationale="r", status="superseded",
    )  # fmt: skip
    assert "expected one of active, revisit" in said


def test_a_decision_needs_a_project_that_is_known(call: Calls) -> None:
    said = call.refused(
        "ghost_decision_record", project_id="app", title="t", decision="d", rationale="r"
    )
    assert "is not known" in said


def test_longest_parts_still_fit_into_an_answer(call: Calls) -> None:
    call.save("x")
    recorded(call, decision="so " * 2600, rationale="漢" * 2600, alternatives=["z" * 300] * 20)
    text = call("ghost_decisions_list", project_id="app").text
    assert "Status: active" in text
    assert text.count("…»") == 3
