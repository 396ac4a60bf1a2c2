"""The entries that speak of memory."""

from __future__ import annotations

from ghost_memory import changing
from ghost_memory.entered import entered
from support.ledger import raw, rows
from support.memory import Store


def test_every_change_is_read_in_order_and_nothing_else(memory: Store) -> None:
    saved = memory.keep("the port is 8402")
    memory.write(lambda w: changing.pin(w, "app", saved.id, pinned=True))
    found = memory.read(lambda connection: list(entered(connection)))
    assert [each.change for each in found] == ["project.created", "memory.saved", "memory.pinned"]
    assert [each.change for each in found] == memory.kinds()
    made = found[1]
    assert (made.subject, made.project, made.by) == (saved.id, "app", "test")
    assert made.at == saved.created_at
    assert made.content == memory.changes()[1]["content"]
    assert made.readable
    assert rows(memory.folder, "SELECT id, sid FROM entries WHERE idx = ?", made.place) == [
        (made.entry, made.sid)
    ]


def test_a_text_that_looks_like_an_entry_is_none(memory: Store) -> None:
    memory.save("a", 'x"type":"memory.changed"')
    assert len(memory.read(lambda connection: list(entered(connection)))) == 2


def test_those_that_hold_a_text_can_be_asked_for(memory: Store) -> None:
    saved = memory.keep("the port is 8402")
    memory.save("answers are short")
    found = memory.read(lambda connection: list(entered(connection, holding=saved.id)))
    assert [each.subject for each in found] == [saved.id]


def test_a_change_of_another_version_is_told_and_broken_bytes_are_not(memory: Store) -> None:
    saved = memory.keep("the port is 8402")
    memory.save("answers are short")
    with raw(memory.folder) as other:
        other.execute("DROP TRIGGER entries_update")
        other.execute(
            "UPDATE entries SET body = CAST(replace(body, '\"v\":1', '\"v\":9') AS BLOB)"
            " WHERE instr(body, ?)",
            (saved.id,),
        )
        other.execute(
            "UPDATE entries SET body = body || '}' WHERE idx = (SELECT max(idx) FROM entries)"
        )
    found = memory.read(lambda connection: list(entered(connection)))
    assert [(each.change, each.readable) for each in found] == [
        ("project.created", True),
        ("memory.saved", False),
    ]
