"""The likely twin of a text, found by its rare words."""

from __future__ import annotations

import sqlalchemy as sa

from ghost_memory import words
from ghost_memory.twins import RARE, twin
from support.memory import PROJECT, Store


def found(memory: Store, text: str, project: str = PROJECT, category: str = "fact") -> str:
    return memory.read(lambda c: twin(c, project, category, text))[0]


def crowd(memory: Store, text: str) -> None:
    """Put so many memories there with these words that none of them is rare."""
    memory.save("the first one makes the project")
    rows = [
        {
            "id": f"{n:032x}",
            "content": f"{text} item{n}",
            "digest": str(n),
            "now": memory.journal.now(),
        }
        for n in range(RARE)
    ]
    statement = sa.text(
        "INSERT INTO memories (id, project_id, category, content, source, created_at, updated_at, digest)"
        f" VALUES (:id, '{PROJECT}', 'fact', :content, 'mcp', :now, :now, :digest)"
    )
    memory.write(lambda w: w.connection.execute(statement, rows))


def test_the_likeliest_of_several_is_named(memory: Store) -> None:
    memory.save("the staging proxy listens on port 8402 behind a gateway of ours")
    best = memory.save("production proxy listens on port 9000", category="gotcha").id
    text = "the production proxy listens on port 9000"
    assert found(memory, text, category="gotcha") == best
    assert found(memory, text, project="other") == ""
    assert found(memory, "nothing like it anywhere") == ""


def test_a_twin_is_found_among_many_that_share_its_common_words(memory: Store) -> None:
    crowd(memory, "proxy port service")
    mine = memory.save("proxy port service zebra walrus lemur").id
    assert found(memory, "proxy port service zebra walrus lemur gnu") == mine


def test_a_text_of_common_words_alone_is_looked_for_with_all_of_them(memory: Store) -> None:
    crowd(memory, "proxy port service")
    assert found(memory, "proxy port service") != ""


def test_a_text_without_words_has_no_twin(memory: Store) -> None:
    memory.save("...")
    assert memory.read(lambda c: twin(c, PROJECT, "fact", "!!!")) == ("", 0.0)


def test_the_longest_text_asks_no_more_than_its_first_words(memory: Store) -> None:
    text = " ".join(f"word{number}" for number in range(800))
    kept = memory.save(text).id
    assert found(memory, text) == kept
    assert len(words.terms(text, limit=words.PROBE_WORDS)) == words.PROBE_WORDS
