"""Backups."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from ghost_core import db
from ghost_core.errors import GhostError, IntegrityError, NotFoundError, UnavailableError
from ghost_memory import backing, importing, reading
from support.ledger import url_of
from support.memory import Store, memory_at


def contents(file: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as connection:
        return [row[0] for row in connection.execute("SELECT content FROM memories ORDER BY seq")]


def refused(memory: Store, target: Path) -> str:
    with pytest.raises(GhostError) as caught:
        backing.backup(memory.recorder.engine, target)
    return caught.value.code


def test_a_backup_is_one_private_file_that_brings_everything_back(
    memory: Store, tmp_path: Path
) -> None:
    saved = memory.keep("the port is 8402")
    file = tmp_path / "copies" / "ghost.db"
    file.parent.mkdir()
    size = backing.backup(memory.recorder.engine, file)
    assert [each.name for each in file.parent.iterdir()] == ["ghost.db"]
    assert (stat.S_IMODE(file.stat().st_mode), file.stat().st_size) == (0o600, size)
    assert contents(file) == ["the port is 8402"]
    with memory_at(tmp_path / "second") as second:
        importing.bring(second.journal, reading.given(file).records)
        assert second.get(saved.id).content == "the port is 8402"


def test_an_older_backup_is_replaced(memory: Store, tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    memory.save("one")
    backing.backup(memory.recorder.engine, file)
    file.chmod(0o644)
    memory.save("two")
    backing.backup(memory.recorder.engine, file)
    assert contents(file) == ["one", "two"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_it_is_one_state_while_others_write(memory: Store, tmp_path: Path) -> None:
    done = threading.Event()

    def work() -> None:
        number = 0
        while not done.is_set():
            memory.save(f"note {number}", "one")
            number += 1

    writer = threading.Thread(target=work)
    writer.start()
    try:
        for number in range(3):
            file = tmp_path / f"{number}.db"
            backing.backup(memory.recorder.engine, file)
            found = contents(file)
            assert found == [f"note {each}" for each in range(len(found))]
    finally:
        done.set()
        writer.join(10)


def test_nothing_but_a_backup_is_replaced(memory: Store, tmp_path: Path) -> None:
    memory.save("one")
    (tmp_path / "text").write_text("precious")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE precious (id TEXT)")
    (tmp_path / "link").symlink_to("text")
    assert refused(memory, tmp_path / "text") == "backup.occupied"
    assert refused(memory, tmp_path / "other.db") == "backup.occupied"
    assert refused(memory, tmp_path) == "backup.occupied"
    assert refused(memory, Path("/")) == "backup.occupied"
    assert refused(memory, tmp_path / "link") == "file.link"
    assert refused(memory, memory.folder / "ghost.db") == "backup.occupied"
    assert (tmp_path / "text").read_text() == "precious"


def test_a_backup_that_is_in_use_is_not_replaced(memory: Store, tmp_path: Path) -> None:
    memory.save("one")
    file = tmp_path / "copy.db"
    backing.backup(memory.recorder.engine, file)
    (tmp_path / "copy.db-wal").touch()
    assert refused(memory, file) == "backup.occupied"


@pytest.mark.parametrize("name", ["none/x.db", "a" * 300, "a\0b"], ids=["folder", "long", "nul"])
def test_a_place_that_cannot_be_written_is_told_and_left_as_it_was(
    memory: Store, tmp_path: Path, name: str
) -> None:
    before = sorted(each.name for each in tmp_path.iterdir())
    assert refused(memory, tmp_path / name) in {"file.unwritable", "file.unreadable"}
    assert sorted(each.name for each in tmp_path.iterdir()) == before


def test_a_damaged_database_gives_no_backup(tmp_path: Path) -> None:
    with memory_at(tmp_path / "home") as memory:
        for number in range(50):
            memory.save(f"note {number} " + "x" * 3000)
    data = bytearray((tmp_path / "home" / "ghost.db").read_bytes())
    data[40_960:90_000] = b"\xff" * (90_000 - 40_960)
    (tmp_path / "home" / "ghost.db").write_bytes(data)
    engine = db.engine(url_of(tmp_path / "home"))
    with pytest.raises(IntegrityError) as caught:
        backing.backup(engine, tmp_path / "copy.db")
    engine.dispose()
    assert caught.value.code == "database.corrupt"
    assert [each.name for each in tmp_path.iterdir()] == ["home"]


def test_where_there_is_none_there_is_no_backup(tmp_path: Path) -> None:
    engine = db.engine(url_of(tmp_path))
    with pytest.raises(NotFoundError):
        backing.backup(engine, tmp_path / "copy.db")
    engine.dispose()
    assert list(tmp_path.iterdir()) == []


def test_another_kind_of_database_is_told(tmp_path: Path) -> None:
    class Dialect:
        name = "postgresql"

    class Engine:
        dialect = Dialect()

    with pytest.raises(UnavailableError, match="postgresql"):
        backing.backup(Engine(), tmp_path / "copy.db")  # type: ignore[arg-type]
