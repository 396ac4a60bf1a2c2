"""Memory seen, and changes that are taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from ghost_core.errors import NotFoundError
from ghost_core.paths import Home
from ghost_memory import belongings, saving
from ghost_memory.looking import Place
from ghost_memory.saving import Note
from support.handclock import HandClock
from support.ledger import rows, url_of
from support.memory import WHO, memory_at


def place(home: Path) -> Place:
    return Place(Home(home), url_of(home), HandClock())


def count(home: Path) -> int:
    with place(home).seen() as seen:
        return int(seen.connection.execute(sa.text("SELECT count(*) FROM memories")).scalar_one())


def test_what_is_there_is_seen_at_its_time(home: Path) -> None:
    with memory_at(home) as memory:
        memory.save("text")
        now = memory.journal.now()
    with place(home).seen() as seen:
        assert seen.now == now
    assert count(home) == 1


def test_where_there_is_none_an_empty_memory_is_seen_and_none_is_made(home: Path) -> None:
    assert count(home) == 0
    made = place(home).preview(WHO, lambda w: saving.save(w, "app", Note("text")))
    assert made.id
    assert not home.exists()


def test_a_preview_leaves_no_trace(home: Path) -> None:
    with memory_at(home) as memory:
        memory.save("text")
    before = rows(home, "SELECT count(*) FROM entries")
    gone = place(home).preview(WHO, lambda w: belongings.delete(w, "app"))
    assert (gone["memories"], count(home)) == (1, 1)
    assert rows(home, "SELECT count(*) FROM entries") == before
    assert rows(home, "SELECT count(*) FROM memories_fts WHERE memories_fts MATCH 'text'") == [1]


def test_what_a_preview_raises_comes_through(home: Path) -> None:
    with memory_at(home) as memory:
        memory.save("text")
    with pytest.raises(NotFoundError):
        place(home).preview(WHO, lambda w: belongings.delete(w, "none"))
    assert count(home) == 1
