from __future__ import annotations

from pathlib import Path

import pytest

from ghost_ledger.session.tally import Tally


def test_reads_are_counted_by_kind_and_bytes_in_all(tmp_path: Path) -> None:
    tally = Tally()
    tally.add("api", "read", "executed", sent=1, received=10)
    tally.add("api", "read", "executed", sent=2, received=20)
    tally.add("api", "read", "failed", sent=0, received=0)
    tally.save(tmp_path)
    again = Tally.load(tmp_path)
    assert again.reads == {("api", "read", "executed"): 2, ("api", "read", "failed"): 1}
    assert (again.bytes_sent, again.bytes_received) == (3, 30)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"reads": [["a"]]}', b'{"reads": {}}'])
def test_a_damaged_tally_counts_from_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "tally.json").write_bytes(content)
    assert Tally.load(tmp_path) == Tally()


def test_an_absent_tally_is_empty(tmp_path: Path) -> None:
    assert Tally.load(tmp_path).reads.total() == 0
