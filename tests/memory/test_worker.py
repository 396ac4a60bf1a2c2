"""The thread that embeds and links: never in the way, never gone, soon over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from ghost_core import db
from ghost_core.errors import UnavailableError
from ghost_memory import changing, erasing
from ghost_memory.changing import Fields
from ghost_memory.matrix import Matrix
from ghost_memory.worker import DISUSED_SECONDS, Worker
from support.embedding import WordsEmbedder
from support.memory import PROJECT, Store

WAIT_SECONDS = 20.0
EMBEDDED = "SELECT count(*) FROM memory_embeddings"


@pytest.fixture
def worker(memory: Store, embedder: WordsEmbedder, matrix: Matrix) -> Iterator[Worker]:
    made = worker_of(memory, embedder, matrix)
    yield made
    made.stop()


def worker_of(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix, sweep_seconds: float = 600.0
) -> Worker:
    engine = memory.recorder.engine
    return Worker(engine, embedder, matrix, memory.clock, sweep_seconds=sweep_seconds)


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < ends
        threading.Event().wait(0.01)


def test_a_sweep_embeds_everything_newest_first_and_by_turns(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    for number in range(60):
        memory.save(f"word{number} of app")
    memory.save("only of another", "zoo")
    memory.save("now of app again")
    worker.sweep()
    assert memory.rows(EMBEDDED) == [62]
    assert embedder.texts[:2] == ["now of app again", "word59 of app"]
    assert embedder.texts[49:52] == ["word11 of app", "only of another", "word10 of app"]


def test_nothing_is_embedded_twice(memory: Store, embedder: WordsEmbedder, worker: Worker) -> None:
    memory.save("port eight")
    worker.sweep()
    worker.sweep()
    assert embedder.texts == ["port eight"]


def test_what_was_embedded_is_found_and_linked(
    memory: Store, matrix: Matrix, worker: Worker
) -> None:
    one = memory.save("a b c d")
    two = memory.save("a b c d", category="gotcha")
    worker.sweep()
    assert set(matrix.near("a b", projects=[PROJECT], limit=5)) == {one.id, two.id}
    assert memory.rows("SELECT relation, source FROM memory_links") == [("related", "auto")]
    assert memory.rows("SELECT count(*) FROM link_scans") == [2]


def test_a_changed_text_is_embedded_anew(memory: Store, matrix: Matrix, worker: Worker) -> None:
    one = memory.save("port eight")
    worker.sweep()
    memory.write(lambda each: changing.update(each, PROJECT, one.id, Fields("blue logo")))
    worker.sweep()
    assert matrix.near("blue logo", projects=None, limit=1)[one.id] == pytest.approx(1.0)


def test_another_model_embeds_everything_anew(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    memory.save("port eight")
    worker.sweep()
    embedder.revision = "2"
    assert worker.health().counts is not None
    worker.sweep()
    health = worker.health()
    assert health.space == "words@2/64"
    assert health.counts is not None
    assert (health.counts.embedded, health.counts.pending) == (1, 0)
    assert health.counts.others == {"words@1/64": 1}


def test_a_model_that_nobody_uses_any_more_is_forgotten(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    memory.save("port eight")
    worker.sweep()
    embedder.revision = "2"
    memory.clock.pass_seconds(DISUSED_SECONDS + 1)
    worker.sweep()
    assert memory.rows("SELECT model FROM memory_embeddings") == ["words@2/64"]


def test_saving_wakes_and_does_not_wait(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    embedder.gate = threading.Event()
    memory.save("first text")
    worker.start()
    assert embedder.asked.wait(WAIT_SECONDS)
    saved = memory.save("saved while the model works")
    worker.wake()
    assert memory.get(saved.id).content == "saved while the model works"
    embedder.gate.set()
    until(lambda: memory.rows(EMBEDDED) == [2])


def test_a_sleeping_worker_is_woken(memory: Store, worker: Worker) -> None:
    worker.start()
    memory.save("first text")
    worker.wake()
    until(lambda: memory.rows(EMBEDDED) == [1])
    memory.save("second words")
    worker.wake()
    until(lambda: memory.rows(EMBEDDED) == [2])


def test_what_nobody_woke_it_for_is_swept(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix
) -> None:
    worker = worker_of(memory, embedder, matrix, sweep_seconds=0.05)
    worker.start()
    memory.save("first text")
    until(lambda: memory.rows(EMBEDDED) == [1])
    worker.stop()


def test_what_is_saved_during_a_long_sweep_comes_first(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    for number in range(120):
        memory.save(f"old{number} words")
    embedder.gate = threading.Event()
    worker.start()
    assert embedder.asked.wait(WAIT_SECONDS)
    memory.save("the newest text")
    worker.wake()
    embedder.gate.set()
    until(lambda: memory.rows(EMBEDDED) == [121])
    assert embedder.texts[50] == "the newest text"


def test_a_model_that_is_down_is_said_once_a_sweep_and_tried_again(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    memory.save("first text")
    memory.save("second words")
    embedder.down = True
    with capture_logs() as logs:
        worker.start()
        until(lambda: worker._trouble != "")
        assert worker.health().trouble == "embedder: is down"
        embedder.down = False
        worker.wake()
        until(lambda: memory.rows(EMBEDDED) == [2] and worker.health().trouble == "")
    assert [each["why"] for each in logs] == ["embedder: is down"]


def test_a_text_that_the_model_refuses_holds_up_no_other(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    for number in range(20):
        memory.save(f"word{number} text")
    memory.save("poison text")
    embedder.refuses = "poison"
    with capture_logs() as logs:
        worker.start()
        until(lambda: memory.rows(EMBEDDED) == [20] and worker._trouble != "")
    assert [each["why"] for each in logs] == ["1 texts were refused by the model"]
    health = worker.health()
    assert health.counts is not None
    assert health.counts.pending == 1


def test_a_defect_ends_neither_the_thread_nor_anything_else(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    memory.save("first text, that no log may show")
    embedder.broken = True
    with capture_logs() as logs:
        worker.start()
        until(lambda: worker._trouble != "")
    assert logs[0]["why"].startswith("ZeroDivisionError in embed:")
    assert "no log" not in str(logs)
    embedder.broken = False
    worker.wake()
    until(lambda: memory.rows(EMBEDDED) == [1])


def test_a_database_that_fails_is_tried_again(memory: Store, worker: Worker) -> None:
    memory.save("first text")
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text("ALTER TABLE memory_embeddings RENAME TO away"))
    worker.start()
    until(lambda: worker._trouble != "")
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text("ALTER TABLE away RENAME TO memory_embeddings"))
    worker.wake()
    until(lambda: memory.rows(EMBEDDED) == [1])


def test_no_transaction_is_open_while_the_model_works(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    embedder.gate = threading.Event()
    memory.save("first text")
    worker.start()
    assert embedder.asked.wait(WAIT_SECONDS)
    with db.write(memory.recorder.engine) as connection:
        connection.execute(sa.text("UPDATE memories SET access_count = 7"))
    embedder.gate.set()
    until(lambda: memory.rows(EMBEDDED) == [1])


def test_it_stops_within_two_seconds_although_the_model_works(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    embedder.gate = threading.Event()
    memory.save("first text")
    worker.start()
    assert embedder.asked.wait(WAIT_SECONDS)
    started = time.monotonic()
    with capture_logs() as logs:
        worker.stop()
    assert time.monotonic() - started < 2
    assert not worker._thread.is_alive()
    assert logs == []


def test_a_health_that_only_the_model_could_tell_says_why_it_does_not(
    embedder: WordsEmbedder, worker: Worker
) -> None:
    embedder.down = True
    health = worker.health()
    assert (health.space, health.counts) == ("", None)
    assert health.trouble == "the model has not answered yet"
    with pytest.raises(UnavailableError):
        worker.sweep()


def test_two_workers_make_one_vector_of_each(
    memory: Store, embedder: WordsEmbedder, matrix: Matrix, worker: Worker
) -> None:
    other = worker_of(memory, WordsEmbedder(), matrix)
    for number in range(60):
        memory.save(f"word{number} text")
    worker.start()
    other.start()
    until(
        lambda: (
            memory.rows(EMBEDDED) == [60] and memory.rows("SELECT count(*) FROM link_scans") == [60]
        )
    )
    other.stop()
    assert (worker._trouble, other._trouble) == ("", "")


def test_words_that_a_process_left_in_the_index_are_taken_out(
    memory: Store, worker: Worker
) -> None:
    gone = memory.save("the word xylophonequartz is here").id
    memory.save("another text that stays")
    with db.write(memory.recorder.engine) as connection:
        connection.exec_driver_sql("DELETE FROM memories WHERE id = ?", (gone,))
        erasing.mark(connection)
    worker.sweep()
    blocks = [bytes(each) for each in memory.rows("SELECT block FROM memories_fts_data")]
    assert not any(b"xylophonequartz" in each for each in blocks)
    assert memory.rows("PRAGMA user_version") == [0]


def test_who_cannot_wait_goes_on_while_it_embeds(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    memory.save("port eight")
    embedder.gate = threading.Event()
    assert not worker.catch_up(0.01)
    assert memory.rows(EMBEDDED) == [0]
    embedder.gate.set()
    until(lambda: memory.rows(EMBEDDED) == [1])


def test_who_can_wait_has_it_embedded(memory: Store, matrix: Matrix, worker: Worker) -> None:
    one = memory.save("port eight")
    assert worker.catch_up(WAIT_SECONDS)
    assert set(matrix.near("port", projects=None, limit=1)) == {one.id}


def test_a_model_that_is_down_keeps_nobody(
    memory: Store, embedder: WordsEmbedder, worker: Worker
) -> None:
    memory.save("port eight")
    embedder.down = True
    assert worker.catch_up(WAIT_SECONDS)
    assert worker.health().trouble == "embedder: is down"
