"""Memory on PostgreSQL: what is saved is found again by the same rules, also by many processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_core.settings import Settings
from ghost_ledger.export.replay import standing
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_memory import changing, fulltext, memories, passive, projects, verifying, words
from ghost_memory.journal import Journal, Who
from ghost_memory.pgvector_column import ready
from ghost_memory.sense import Sense
from support.handclock import HandClock
from support.ledger import differences
from support.memory import Store
from support.postgres import Shared

pytestmark = pytest.mark.postgres

PROCESSES = 8
WRITES = int(os.environ.get("MEMORY_WRITES", "20"))  # 200 with `make test-postgres`
SAVER = """
import sys
from pathlib import Path
from ghost_core.clock import SystemClock
from ghost_core.paths import Home
from ghost_ledger.recorder import Recorder
from ghost_memory import projects, saving
from ghost_memory.journal import Journal, Who
from ghost_memory.saving import Note
folder, url, number, writes = sys.argv[1:]
clock = SystemClock()
with Recorder.open(Home(Path(folder)), url, busy_seconds=30, with_memory=True) as recorder:
    journal = Journal(recorder, clock, Who("test"))
    def save(writing, text):
        projects.ensure(writing, "app")
        return saving.save(writing, "app", Note(text))
    for each in range(int(writes)):
        journal.write(lambda writing: save(writing, f"process {number} wrote line {each}"))
"""


@pytest.fixture
def memory(tmp_path: Path, shared: Shared) -> Iterator[Store]:
    clock = HandClock()
    with Recorder.open(Home(tmp_path), shared.url, clock=clock, linger_us=0) as recorder:
        journal = Journal(recorder, clock, Who("test"))
        journal.write(lambda writing: projects.ensure(writing, "app"))
        yield Store(tmp_path, journal, clock, recorder)


def found(memory: Store, query: str) -> list[str]:
    with memory.journal.read() as connection:
        hits = fulltext.scores(connection, words.query(query), projects={"app"}, limit=10)
        return [memories.get(connection, each).content for each in hits]


def test_what_is_saved_is_found_by_any_of_its_words(memory: Store):
    for text in (
        "the staging proxy listens on 8402",
        "deployments run at night",
        "lunch is at noon",
    ):
        memory.save(text)
    assert found(memory, "where does the staging proxy listen?") == [
        "the staging proxy listens on 8402"
    ]
    assert found(memory, "deploying") == ["deployments run at night"]
    assert found(memory, "nothing of this") == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the gateway is 192.168.9.150", "192.168.9.150"),
        ("run pre-edit first", "pre-edit"),
        ("see ghost_core/db.py", "db.py"),
        ("MÜLLER pays by card", "muller"),
        ("東京都の設定", "設定"),
        ("東京都の設定", "東"),
        ("it is what it is", "what is it"),
        ("100% of 'quoted' \\ text & more | !x", "quoted & text"),
        ("a em-dash\u2014splits words", "dash splits"),
    ],
)
def test_words_are_cut_as_in_sqlite(memory: Store, text: str, query: str):
    memory.save(text)
    assert found(memory, query) == [text]


@pytest.mark.parametrize(
    "query", ["'", '"', ":*", "a:*b", "<->", "!", "\\", "((", "%(x)s", ":t0", "\0", "&|"]
)
def test_no_question_raises(memory: Store, query: str):
    memory.save("anything at all")
    assert found(memory, query) == []


def test_a_rare_word_counts_for_more_than_a_frequent_one(memory: Store):
    for number in range(8):
        memory.save(f"the service number {number} restarts daily")
    memory.save("the zebra restarts never")
    assert found(memory, "zebra service")[0] == "the zebra restarts never"


def test_a_tag_is_found_and_counts_half(memory: Store):
    memory.save("something else entirely", tags=("kafka",))
    memory.save("kafka holds the events")
    assert found(memory, "kafka") == ["kafka holds the events", "something else entirely"]


def test_a_changed_text_is_found_by_its_new_words_alone(memory: Store):
    made = memory.save("the port is 8402").id
    memory.write(lambda writing: changing.delete(writing, "app", made))
    assert found(memory, "port") == []


def test_a_near_duplicate_is_linked(memory: Store, shared: Shared):
    memory.save("the staging proxy listens on port 8402 of the gateway host")
    memory.save("the staging proxy listens on port 8402 of the gateway machine")
    assert shared.run("SELECT relation FROM memory_links") != []


def test_what_is_shown_unasked_goes_by_importance_and_age(memory: Store):
    memory.save("old and decaying", category="gotcha", importance=0.9)
    memory.clock.pass_seconds(400 * 86_400)
    memory.save("new and smaller", category="gotcha", importance=0.5)
    with memory.journal.read() as connection:
        top = passive.top(connection, "app", limit=5, now=memory.journal.now())
    assert [each.content for each in top] == ["new and smaller", "old and decaying"]


def test_the_audit_log_names_every_change(memory: Store, shared: Shared):
    made = memory.save("the port is 8402").id
    rows = shared.run('SELECT action, project_id, "user", timestamp FROM audit_log ORDER BY id')
    assert rows[-1][:3] == ("memory.saved", "app", "test")
    assert rows[-1][3].endswith("Z")
    assert made
    assert differences(memory.recorder.engine) == []


def test_without_pgvector_numpy_compares(memory: Store, shared: Shared):
    if shared.run("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        pytest.skip("this server has pgvector: test_pgvector.py")
    assert ready(memory.recorder.engine) == ""
    memory.save("the staging proxy listens on 8402")
    with Sense.open(
        Settings(), memory.recorder.engine, memory.clock, no_secret, background=False
    ) as sense:
        assert sense.catch_up(20.0)
        assert sense.vectors is not None
        assert len(sense.vectors.near("staging", projects=None, limit=5)) == 1
        assert sense.health()["compared_by"] == "numpy"


def no_secret(reference: object) -> SecretBytes:
    raise AssertionError(reference)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_eight_processes_lose_no_row(tmp_path: Path, shared: Shared):
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", SAVER, str(tmp_path), shared.url, str(number), str(WRITES)],
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for number in range(PROCESSES)
    ]
    results = [(child.communicate(timeout=500)[1], child.returncode) for child in children]
    assert results == [("", 0)] * PROCESSES
    saved = {text for (text,) in shared.run("SELECT ARRAY[content] FROM memories")}
    assert saved == {
        f"process {number} wrote line {each}"
        for number in range(PROCESSES)
        for each in range(WRITES)
    }
    assert shared.gaps() == []
    engine = db.engine(shared.url)
    assert differences(engine) == []
    with db.read(engine) as connection:
        checked = verifying.check(connection)
    assert (checked.memories, checked.wrong) == (PROCESSES * WRITES, ())
    held = standing(Ledger(engine, Home(tmp_path)), Home(tmp_path), checked.sessions)
    assert (held.log.whole, held.broken) == (True, {})
    engine.dispose()
