"""Words of removed texts leave the index."""

from __future__ import annotations

from ghost_memory.erasing import scrub
from support.memory import Store


def words_on_disk(memory: Store) -> bytes:
    return b"".join(bytes(block) for block in memory.rows("SELECT block FROM memories_fts_data"))


def test_the_index_keeps_no_word_of_what_is_gone(memory: Store) -> None:
    kept = memory.save("the word xylophonequartz is here").id
    memory.save("another text that stays")
    memory.write(
        lambda w: w.connection.exec_driver_sql("DELETE FROM memories WHERE id = ?", (kept,))
    )
    assert b"xylophonequartz" in words_on_disk(memory)
    memory.write(lambda w: scrub(w.connection))
    assert b"xylophonequartz" not in words_on_disk(memory)
    assert b"anoth" in words_on_disk(memory)  # the stem
