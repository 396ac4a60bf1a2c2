"""`ghost memory`: save, search, show, update, pin, delete."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ghost_memory.limits import CONTENT_BYTES, LOOKED_AT
from support.commands import Command
from support.ledger import raw, rows
from support.memory import SECRET
from support.repositories import git, repository


@pytest.fixture
def ghost(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def test_a_saved_text_is_shown_by_a_beginning_of_its_id(ghost: Command) -> None:
    saved = ghost(
        "memory", "save", "the port is 8402", "--project", "app", "--category", "gotcha",
        "--importance", "0.9", "--tag", "net", "--tag", "port", "--json",
    ).json  # fmt: skip
    assert (saved["schema"], saved["existing"], saved["project"]) == (
        "ghost/memory-saved/v1",
        False,
        "app",
    )
    shown = ghost("memory", "show", saved["id"][:6], "--json").json
    assert shown["schema"] == "ghost/memory/v1"
    assert (shown["content"], shown["tags"], shown["source"]) == (
        "the port is 8402",
        ["net", "port"],
        "manual",
    )
    assert (shown["category"], shown["importance"], shown["replaced_by"]) == ("gotcha", 0.9, None)
    text = ghost("memory", "show", saved["id"]).out
    assert "tags" in text
    assert text.endswith("\n\nthe port is 8402\n")


def test_what_a_save_did_is_said(ghost: Command) -> None:
    first = ghost("memory", "save", "the staging proxy is on port 8402", "--project", "app").out
    assert first.startswith("saved ")
    assert (
        "already there"
        in ghost("memory", "save", "the staging proxy is on port 8402", "--project", "app").out
    )
    said = ghost(
        "memory", "save", f"staging proxy is on port 8402 {SECRET}", "--project", "app"
    ).out
    assert "likely the same as" in said
    assert "secrets removed: 1" in said
    assert "cut off" in ghost("memory", "save", "x " * 9000, "--project", "app").out


def test_a_replacement_is_shown(ghost: Command) -> None:
    old = ghost("memory", "save", "the port is 8402", "--project", "app", "--json").json["id"]
    new = ghost(
        "memory", "save", "we moved to 9000", "--project", "app", "--supersedes", old, "--json"
    ).json
    assert new["superseded"] == [old]
    assert ghost("memory", "show", old, "--json").json["replaced_by"] == new["id"]


def given(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_text_is_read_from_stdin(ghost: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "from a file é".encode())
    saved = ghost("memory", "save", "-", "--project", "app", "--json").json
    assert ghost("memory", "show", saved["id"], "--json").json["content"] == "from a file é"


@pytest.mark.parametrize("data", [b"caf\xe9", b"caf\xc3", b"\xff\xfea\x00"], ids=repr)
def test_what_is_no_utf_8_is_refused_and_not_mended(
    ghost: Command, home: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    given(monkeypatch, data)
    said = ghost("memory", "save", "-", "--project", "app", code=2)
    assert "expected UTF-8, found another byte at" in said.err
    assert "iconv" in said.err
    assert not (home / "ghost.db").exists()


def test_a_text_that_is_far_too_long_may_be_cut_within_a_character(
    ghost: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for before in (b"", b"a"):
        given(monkeypatch, before + "é".encode() * (LOOKED_AT * CONTENT_BYTES))
        assert ghost("memory", "save", "-", "--project", "app", "--json").json["shortened"]


def test_a_repository_becomes_a_project_with_its_first_memory(
    ghost: Command, tmp_path: Path
) -> None:
    root = repository(tmp_path / "shop", "https://example.com/team/shop")
    git(root, "worktree", "add", "-q", "../feature")
    assert (
        ghost("memory", "save", "the port is 8402", "--json", folder=root).json["project"] == "shop"
    )
    again = ghost("memory", "save", "the port is 8402", "--json", folder=tmp_path / "feature").json
    assert (again["project"], again["existing"]) == ("shop", True)


def test_a_folder_without_a_project_is_told_what_to_do(ghost: Command, tmp_path: Path) -> None:
    assert "--project" in ghost("memory", "save", "text", code=4).err
    first, second = repository(tmp_path / "one" / "app"), repository(tmp_path / "two" / "app")
    ghost("memory", "save", "text", folder=first)
    assert "ghost project bind" in ghost("memory", "save", "text", code=4, folder=second).err


def test_an_update_changes_what_is_given(ghost: Command) -> None:
    saved = ghost(
        "memory", "save", "the port is 8402", "--project", "app", "--tag", "a", "--json"
    ).json["id"]
    done = ghost(
        "memory", "update", saved, "--content", "it is 9000", "--importance", "0.1", "--json"
    ).json
    assert (done["changed"], done["tags"]) == (["content", "importance"], ["a"])
    assert ghost("memory", "update", saved, "--tag", "b", "--json").json["tags"] == ["b"]
    assert ghost("memory", "update", saved, "--no-tags", "--json").json["tags"] == []
    assert ghost("memory", "update", saved, "--category", "gotcha").out.startswith(
        "changed category of"
    )
    ghost("memory", "update", saved, code=2)
    ghost("memory", "update", saved, "--category", "nonsense", code=2)


def test_a_pin_is_set_and_ended(ghost: Command) -> None:
    saved = ghost("memory", "save", "text", "--project", "app", "--json").json["id"]
    assert ghost("memory", "pin", saved, "--json").json["pinned"] is True
    assert ghost("memory", "pin", saved, "--off").out == f"unpinned {saved}\n"


def test_what_is_deleted_is_not_found(ghost: Command) -> None:
    saved = ghost("memory", "save", "text", "--project", "app", "--json").json["id"]
    assert ghost("memory", "delete", saved, "--json").json["id"] == saved
    ghost("memory", "show", saved, code=4)
    ghost("memory", "delete", saved, code=4)


def test_a_question_finds_what_was_saved_and_says_how_well(ghost: Command, tmp_path: Path) -> None:
    root = repository(tmp_path / "shop")
    saved = ghost(
        "memory", "save", "the staging proxy listens on port 8402", "--json", folder=root
    ).json
    ghost("memory", "save", "staging listens to nobody", "--project", "other")
    found = ghost("memory", "search", "which port does the proxy use", "--json", folder=root).json
    assert found["schema"] == "ghost/memory-search/v1"
    assert [hit["memory"]["id"] for hit in found["hits"]] == [saved["id"]]
    assert found["verdict"] in {"answerable", "weak"}
    line, tail = ghost("memory", "search", "proxy port", folder=root).out.splitlines()
    assert line.startswith(
        f"{saved['id'][:8]}  the staging proxy listens on port 8402  (fact, shop"
    )
    assert tail.startswith("1 of 1")
    assert "score" in ghost("memory", "search", "proxy port", "--explain", folder=root).out
    assert (
        len(ghost("memory", "search", "staging", "--all", "--json", folder=root).json["hits"]) == 2
    )
    assert "weak" in ghost("memory", "search", "zebra", folder=root).out
    assert ghost("memory", "search", "?!", folder=root, code=1).out.startswith("0 of 0: empty")


def test_a_folder_without_a_project_searches_all_and_says_so(ghost: Command) -> None:
    ghost("memory", "save", "the port is 8402", "--project", "app")
    said = ghost("memory", "search", "port")
    assert "looking in all" in said.err
    ghost("memory", "search", "port", "--project", "none", code=4)
    ghost("memory", "search", "port", "--project", "app", "--category", "nonsense", code=2)


@pytest.mark.parametrize("query", ["", "  ", '"', "*", "--", "NEAR(", "a AND", "数据", "C++"])
def test_no_query_is_an_error(ghost: Command, query: str) -> None:
    ghost("memory", "save", "the port is 8402", "--project", "app")
    has_words = any(letter.isascii() and letter.isalpha() for letter in query)
    found = ghost(
        "memory", "search", "--project", "app", "--json", "--", query, code=0 if has_words else 1
    )
    assert found.json["verdict"] == ("weak" if has_words else "empty")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("memory", "show", "0000"), 4),
        (("memory", "show", "x"), 2),
        (("memory", "save", " ", "--project", "app"), 2),
        (("memory", "save", "text", "--project", SECRET), 2),
        (("memory", "save", "text", "--project", "app", "--category", "nonsense"), 2),
        (("memory", "save", "text", "--project", "app", "--importance", "7"), 2),
        (("memory", "save", "text", "--project", "app", "--supersedes", "0000"), 4),
    ],
)
def test_what_is_wrong_is_an_exit_code_and_changes_nothing(
    ghost: Command, home: Path, words: tuple[str, ...], code: int
) -> None:
    said = ghost(*words, code=code)
    assert said.err.startswith("ghost: ")
    assert SECRET not in said.err
    if (home / "ghost.db").exists():
        assert rows(home, "SELECT count(*) FROM memories") == [0]


def test_looking_makes_no_memory(ghost: Command, home: Path) -> None:
    ghost("memory", "show", "0000", code=4)
    assert not (home / "ghost.db").exists()


def test_every_change_is_in_the_audit_log(ghost: Command, home: Path) -> None:
    saved = ghost("memory", "save", "text", "--project", "app", "--json").json["id"]
    ghost("memory", "pin", saved)
    ghost("memory", "delete", saved)
    assert rows(home, "SELECT action, user FROM audit_log ORDER BY id") == [
        ("project.created", "cli"),
        ("memory.saved", "cli"),
        ("memory.pinned", "cli"),
        ("memory.deleted", "cli"),
    ]


def test_a_ledger_with_changes_of_memory_verifies_and_one_of_them_altered_does_not(
    ghost: Command, home: Path
) -> None:
    ghost("memory", "save", "text", "--project", "app")
    alone = ghost("replay", "--all").json
    assert alone["sessions"] == []  # no session of an agent yet
    assert alone["recorder"]["memory_changes"] > 0
    session = ghost("spawn", "--intent", "test", "--json").json["session_id"]
    ghost("memory", "save", "more text", "--project", "app")
    ghost("evaporate", "--session-id", session)
    assert ghost("replay", "--all").json["verified"] is True
    with raw(home) as other:
        other.execute("DROP TRIGGER entries_update")
        other.execute(
            "UPDATE entries SET body = replace(body, 'memory.saved', 'memory.spent')"
            " WHERE type = 'memory.changed' AND instr(body, 'memory.saved')"
        )
    ghost("replay", "--all", code=7)


def test_a_search_finds_what_shares_no_word_with_the_question(ghost: Command) -> None:
    ghost("memory", "save", "the automobile needs new tyres", "--project", "app")
    ghost("memory", "save", "invoices are printed on Mondays", "--project", "app")
    found = ghost("memory", "search", "car wheels", "--project", "app", "--json").json
    assert found["hits"][0]["memory"]["content"] == "the automobile needs new tyres"


def test_a_model_that_cannot_be_asked_leaves_the_words_and_is_told(
    ghost: Command, home: Path
) -> None:
    ghost("memory", "save", "the port is 8402", "--project", "app")
    home.joinpath("ghost.toml").write_text(
        '[memory.embedding]\nbackend = "ollama"\nurl = "http://127.0.0.1:1"\n', "utf-8"
    )
    found = ghost("memory", "search", "which port", "--project", "app", "--json").json
    assert len(found["hits"]) == 1
    assert found["degraded"]
