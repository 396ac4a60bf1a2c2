"""What the commands of memory share."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from ghost_cli import remembered
from ghost_core.errors import NotFoundError
from ghost_core.settings import Settings
from ghost_memory import belongings, saving
from ghost_memory.saving import Note
from ghost_memory.worker import Worker

NO_MODEL = Settings(memory={"embedding": {"backend": "none"}})  # type: ignore[arg-type]


def save(text: str, project: str = "app") -> None:
    with remembered.changing() as journal:
        journal.write(lambda w: saving.save(w, project, Note(text)))


def count() -> int:
    with remembered.reading() as (seen, _):
        return int(seen.connection.execute(sa.text("SELECT count(*) FROM memories")).scalar_one())


def test_where_there_is_none_an_empty_memory_is_seen_and_none_is_made(home: Path) -> None:
    assert count() == 0
    assert remembered.preview(lambda w: saving.save(w, "app", Note("text"))).id
    assert not (home / "ghost.db").exists()


def test_a_preview_changes_nothing(home: Path) -> None:
    save("first")
    gone = remembered.preview(lambda w: belongings.delete(w, "app"))
    assert (gone["memories"], count()) == (1, 1)


def test_what_a_preview_raises_comes_through() -> None:
    save("first")
    with pytest.raises(NotFoundError):
        remembered.preview(lambda w: belongings.delete(w, "none"))
    assert count() == 1


def test_a_directory_without_a_project_looks_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save("first")
    with remembered.reading() as (seen, _):
        assert remembered.here_or_everywhere(seen, "app") == "app"
        assert remembered.here_or_everywhere(seen, "") is None
        with pytest.raises(NotFoundError):
            remembered.here_or_everywhere(seen, "none")
    assert "looking in all" in capsys.readouterr().err


def test_a_search_waits_no_longer_than_it_says_for_vectors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save("port eight")
    monkeypatch.setattr(Worker, "catch_up", lambda _, seconds: seconds > 1.0)
    with remembered.reading() as (seen, settings), remembered.meaning(seen, settings) as near:
        assert near is not None
    assert "found by their words only" in capsys.readouterr().err
    with remembered.reading() as (seen, _), remembered.meaning(seen, NO_MODEL) as near:
        assert near is None
    assert capsys.readouterr().err == ""
