"""What a witness remembers survives, and is missed when it is gone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import identity
from ghost_ledger.witness import memory
from ghost_ledger.witness.memory import Memory
from support.bundles import ORIGIN, Log

LOG = Log().session().finish().log


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def test_a_kept_head_is_there_for_the_next_process(house: Home):
    Memory.open(house).keep(LOG.head(2))
    Memory.open(house).keep(LOG.head(3))
    Memory.open(house).keep(Log("other.test/1").session().finish().log.head())
    found = Memory.open(house).last(ORIGIN)
    assert found is not None
    assert found.size == 3
    assert Memory.open(house).last("other.test/1") is not None
    assert Memory.open(house).last("unknown.test/1") is None


def test_the_files_are_for_the_owner_only(house: Home):
    made = Memory.open(house)
    made.keep(LOG.head())
    made.keep_evidence("fork", LOG.head(), b"old 0\n\n")
    assert stat.S_IMODE(made.folder.stat().st_mode) == 0o700
    for path in made.folder.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_witness_that_lost_its_memory_starts_no_more(house: Home):
    made = Memory.open(house)
    identity.witness_key(house)
    (made.folder / "heads").unlink()
    for ask in (lambda: Memory.open(house), lambda: made.last(ORIGIN)):
        with pytest.raises(IntegrityError) as caught:
            ask()
        assert caught.value.code == "witness.memory"


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b'{"heads":[],"v":2}', b'{"heads":["x"],"v":1}', b'{"heads":[1],"v":1}'],
)
def test_a_damaged_memory_is_refused(house: Home, content: bytes):
    (Memory.open(house).folder / "heads").write_bytes(content)
    with pytest.raises(IntegrityError) as caught:
        Memory.open(house)
    assert caught.value.code == "witness.memory"


def test_a_memory_that_cannot_be_written_is_a_clear_error(house: Home):
    (house.root / "witness").write_text("")
    with pytest.raises(UnavailableError) as caught:
        Memory.open(house)
    assert caught.value.code == "witness.unwritable"


def test_evidence_is_kept_once_and_not_without_end(house: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "EVIDENCE_LIMIT", 3)
    made = Memory.open(house)
    for number in (0, 0, 1, 2, 3, 4):
        made.keep_evidence("proof", b"%d" % number, b"%d" % number)
    made.keep_evidence("fork", b"f", b"f")
    kept = sorted(path.read_bytes() for path in (made.folder / "evidence").iterdir())
    assert kept == [b"0", b"1", b"2", b"f"]
