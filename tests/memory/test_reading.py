"""Reading what is to be imported."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghost_core.errors import GhostError, NotFoundError, UsageError
from ghost_memory import reading
from ghost_memory.exchange import SCHEMA
from support.godb import NEW, OLD, go_database
from support.memory import Store

HEADER = json.dumps({"schema": SCHEMA}) + "\n"


def test_a_database_of_the_origin_is_read_and_nothing_else(tmp_path: Path) -> None:
    for wal in (False, True):
        folder = tmp_path / f"wal-{wal}"
        folder.mkdir()
        file = go_database(folder / "ghost.db", wal=wal)
        before = {each.name: each.read_bytes() for each in folder.iterdir()}
        taken = reading.given(file)
        after = {each.name: each.read_bytes() for each in folder.iterdir()}
        assert after.pop("ghost.db-shm", b"") == b"" or wal  # SQLite's own, beside a log in use
        assert after == before
        kinds = [kind.name for kind, _ in taken.records]
        assert kinds.count("memory") == 3
        assert kinds == sorted(
            kinds,
            key=[
                "project",
                "checkout",
                "state",
                "memory",
                "link",
                "task",
                "decision",
                "snapshot",
            ].index,
        )
        rows = {str(row.get("id")): row for _, row in taken.records}
        assert rows[OLD]["tags"] == '["net", "ports"]'
        assert (rows[NEW]["source"], "tags" in rows[NEW]) == ("import", False)
        assert [row["path"] for kind, row in taken.records if kind.name == "checkout"] == [
            "/home/dev/src/shop"
        ]


def test_a_row_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    taken = reading.given(go_database(tmp_path / "ghost.db"))
    assert taken.problems == ["memories, row 3: memory: content holds what it may not"]


def test_a_name_with_signs_of_an_address_is_a_file(tmp_path: Path) -> None:
    file = go_database(tmp_path / "a?mode=rw#x%41.db")
    assert reading.given(file).records
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_a_read_only_folder_is_no_hindrance(tmp_path: Path) -> None:
    file = go_database(tmp_path / "ghost.db", wal=True)
    file.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert reading.given(file).records
    finally:
        tmp_path.chmod(0o700)


def test_our_own_database_can_be_read_too(memory: Store) -> None:
    kept = memory.keep("the port is 8402")
    rows = [
        row
        for kind, row in reading.given(memory.folder / "ghost.db").records
        if kind.name == "memory"
    ]
    assert [row["id"] for row in rows] == [kept.id]


def test_what_lies_in_the_log_of_a_database_is_read(tmp_path: Path) -> None:
    file = go_database(tmp_path / "ghost.db", wal=True)
    assert (tmp_path / "ghost.db-wal").stat().st_size > 0
    assert reading.given(file).records
    (tmp_path / "ghost.db-wal").unlink()
    (tmp_path / "ghost.db-shm").unlink()
    assert reading.given(file).records == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: is no JSON"),
        ("[]\n", "line 1: is no JSON object"),
        ('{"schema": "other"}\n', "expected an export"),
        ("SQLite format 3\0 and nothing more", "is no database of memories"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(UsageError) as caught:
        reading.given(tmp_path / "file")
    assert caught.value.code == "import.format"
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nonsense", "is no JSON"),
        ('{"type":"memory","id":"0A0A', "is no JSON"),
        ("[]", "is no JSON object"),
        ('{"type":"nonsense"}', "is of no type that is known"),
        ('{"type":["memory"]}', "is of no type that is known"),
        ("[" * 100_000, "is no JSON"),
        ('{"type":"project","id":"' + "x" * reading.LINE_BYTES + '"}', "is longer than"),
        ("x" * (3 * reading.LINE_BYTES), "is longer than"),
        ('{"type":"memory","id":"0a0b"}', "memory: project_id is missing"),
    ],
    ids=["word", "half", "list", "type", "types", "deep", "long", "longest", "missing"],
)
def test_a_line_that_is_no_record_is_named_and_left_out(
    tmp_path: Path, line: str, says: str
) -> None:
    good = ('{"type":"project","id":"one"}', '{"type":"project","id":"two"}')
    (tmp_path / "file").write_text(HEADER + "\n".join((good[0], line, "", good[1])))
    taken = reading.given(tmp_path / "file")
    assert [row["id"] for _, row in taken.records] == ["one", "two"]
    assert len(taken.problems) == 1
    assert taken.problems[0].startswith(f"line 3: {says}")


@pytest.mark.parametrize(("counts", "told"), [({"project": 2}, 1), ({"project": 1}, 0), ({}, 1)])
def test_a_file_that_was_cut_off_is_told(tmp_path: Path, counts: dict[str, int], told: int) -> None:
    header = json.dumps({"schema": SCHEMA, "records": counts})
    (tmp_path / "file").write_text(header + '\n{"type":"project","id":"one"}\n')
    taken = reading.given(tmp_path / "file")
    assert (len(taken.records), len(taken.problems)) == (1, told)


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path, tmp_path / ("a" * 5000), Path("a\0b")):
        with pytest.raises(NotFoundError) as caught:
            reading.given(path)
        assert caught.value.code == "import.file"


def test_a_database_without_memories_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE other (id TEXT)")
    with pytest.raises(UsageError):
        reading.given(tmp_path / "x.db")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=200), st.binary(max_size=200).map(lambda data: HEADER.encode() + data)
    )
)
def test_any_file_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    try:
        assert reading.given(tmp_path / "file").records == []
    except GhostError as error:
        assert error.message


def test_a_view_without_end_is_no_table(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute(
            "CREATE VIEW memories AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
            " SELECT 'm' || x AS id FROM c LIMIT 100000"
        )
    with pytest.raises(UsageError, match="no table memories"):
        reading.given(tmp_path / "x.db")
