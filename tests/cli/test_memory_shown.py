"""How memories look."""

from __future__ import annotations

import pytest

from ghost_cli import memory_shown as shown
from ghost_memory.asking import Found, Hit
from ghost_memory.values import Memory, Saved

TIME = "2026-01-01T00:00:00.000000Z"


def memory(content: str = "the port is 8402", **parts: bool) -> Memory:
    return Memory(
        "a" * 32,
        "app",
        "gotcha",
        content,
        0.5,
        (),
        parts.get("pinned", False),
        "mcp",
        TIME,
        TIME,
        1,
    )


def test_a_narrow_terminal_gets_less_of_the_text_and_all_of_the_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    line = shown.listed([memory("x y " * 50, pinned=True)], 1).splitlines()[0]
    assert len(line) == 50
    assert line.endswith("…  (gotcha, app, pinned)")
    monkeypatch.setenv("COLUMNS", "10")
    assert "x y x y x y x y…" in shown.listed([memory("x y " * 50)], 1)


def test_a_hit_is_a_line_with_what_a_reader_must_know() -> None:
    hits = (
        Hit(memory(), "App", 0.9, legs={"words": 0.9, "vectors": 0.1}),
        Hit(memory("x\ny " * 90, pinned=True), "App", 0.5, "b" * 32, "replaced"),
    )
    found = Found(hits, "answerable", "two say so", 5, degraded="no model")
    first, second, tail = shown.hits(found, explain=False).splitlines()
    assert first == "aaaaaaaa  the port is 8402  (gotcha, App)"
    assert second.endswith("…  (gotcha, App, pinned, replaced by bbbbbbbb)")
    assert tail == "2 of 5: answerable, two say so"
    explained = shown.hits(found, explain=True)
    assert "score 0.900: words 0.900, vectors 0.100" in explained
    assert explained.endswith("no model")


def test_an_answer_as_json_holds_everything() -> None:
    document = shown.found(
        Found((Hit(memory(), "App", 0.9, legs={"words": 0.9}),), "weak", total=1)
    )
    (hit,) = document["hits"]  # type: ignore[misc]
    assert (document["verdict"], document["total"], hit["legs"]) == ("weak", 1, {"words": 0.9})
    assert hit["memory"]["content"] == "the port is 8402"


def test_nothing_found_is_said() -> None:
    assert shown.hits(Found((), "empty"), explain=False) == "0 of 0: empty"


def test_a_save_says_what_became_of_the_text() -> None:
    made = Saved("id", False, "twin", 0.75, True, 2, ("old",))
    assert shown.saved(made, memory()).splitlines() == [
        "saved id in app",
        "likely the same as twin (0.75); both are kept",
        "replaces old",
        "secrets removed: 2",
        "the end was cut off: the text was too long",
    ]
    assert shown.saved(Saved("id", existing=True), memory()) == "already there id in app"


def test_a_whole_memory_has_its_text_last() -> None:
    text = shown.whole(
        {
            "schema": "x",
            "id": "i",
            "tags": ["a", "b"],
            "agent": None,
            "importance": 0.0,
            "content": "c",
        }
    )
    assert text == "id          i\ntags        a, b\nimportance  0.0\n\nc"
