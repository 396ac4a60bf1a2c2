"""Words of removed texts leave the index, in steps that hold nobody up."""

from __future__ import annotations

import pytest

from ghost_core import db
from ghost_core.errors import UnavailableError
from ghost_memory import changing, erasing
from ghost_memory.changing import Fields
from support.memory import PROJECT, Store

WORD = "xylophonequartz"
OTHERS = "INSERT INTO memories (id, project_id, content, created_at, updated_at, digest) VALUES (?,?,?,'','','')"


def words_on_disk(memory: Store) -> bytes:
    return b"".join(bytes(block) for block in memory.rows("SELECT block FROM memories_fts_data"))


def marks(memory: Store) -> int:
    found: int = memory.rows("PRAGMA user_version")[0]
    return found


def removed(memory: Store) -> None:
    """Remove a text as a process does that ends before it takes the words out."""
    kept = memory.save(f"the word {WORD} is here").id
    memory.save("another text that stays")
    with db.write(memory.recorder.engine) as connection:
        connection.exec_driver_sql("DELETE FROM memories WHERE id = ?", (kept,))
        erasing.mark(connection)
    assert WORD.encode() in words_on_disk(memory)
    assert marks(memory) == 1


def test_the_index_keeps_no_word_of_what_is_gone(memory: Store) -> None:
    removed(memory)
    erasing.finish(memory.recorder.engine)
    assert WORD.encode() not in words_on_disk(memory)
    assert b"anoth" in words_on_disk(memory)  # the stem
    assert marks(memory) == 0


@pytest.mark.parametrize("how", ["deleted", "changed"])
def test_they_are_gone_when_the_change_returns(memory: Store, how: str) -> None:
    kept = memory.save(f"the word {WORD} is here").id
    memory.save("another text that stays")
    if how == "deleted":
        memory.write(lambda w: changing.delete(w, PROJECT, kept))
    else:
        memory.write(lambda w: changing.update(w, PROJECT, kept, Fields("a new text")))
    assert WORD.encode() not in words_on_disk(memory)
    assert marks(memory) == 0


def test_others_write_between_the_steps(memory: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "STEP_PAGES", 1)
    removed(memory)
    rows = [(f"{each:032x}", PROJECT, f"text {each} of{each % 50} many") for each in range(3000)]
    with db.write(memory.recorder.engine) as connection:
        connection.exec_driver_sql(OTHERS, rows)
    between: list[str] = []
    erasing.finish(
        memory.recorder.engine,
        give_way=lambda _: between.append(memory.save(f"saved meanwhile {len(between)}").id),
    )
    assert len(between) > 5
    assert len(set(between)) == len(between)
    assert WORD.encode() not in words_on_disk(memory)
    assert marks(memory) == 0


def test_what_is_removed_meanwhile_goes_too(memory: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "STEP_PAGES", 1)
    later = memory.save("a text about zitherbassoon").id
    rows = [(f"{each:032x}", PROJECT, f"text {each} of{each % 50} many") for each in range(1000)]
    with db.write(memory.recorder.engine) as connection:
        connection.exec_driver_sql(OTHERS, rows)
    removed(memory)

    def remove(_: float) -> None:
        with db.write(memory.recorder.engine) as connection:
            done = connection.exec_driver_sql("DELETE FROM memories WHERE id = ?", (later,))
            if done.rowcount:
                erasing.mark(connection)

    erasing.finish(memory.recorder.engine, give_way=remove)
    assert b"zitherbassoon" not in words_on_disk(memory)
    assert marks(memory) == 0


def test_where_nothing_was_removed_nothing_is_done(memory: Store) -> None:
    for number in range(3):
        memory.save(f"text {number}")
    before = words_on_disk(memory)
    erasing.finish(memory.recorder.engine)
    assert words_on_disk(memory) == before


def test_a_change_holds_even_if_its_words_have_to_wait(
    memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(_: object) -> None:
        raise UnavailableError("another process holds its lock", code="database.locked")

    kept = memory.save(f"the word {WORD} is here").id
    memory.save("another text that stays")
    monkeypatch.setattr(erasing, "finish", locked)
    memory.write(lambda w: changing.delete(w, PROJECT, kept))
    assert memory.rows("SELECT count(*) FROM memories") == [1]
    assert marks(memory) == 1
