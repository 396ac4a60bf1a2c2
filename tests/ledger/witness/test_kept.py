"""What the home of a log keeps of its witnesses."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from ghost_core.errors import UnavailableError
from ghost_core.paths import Home
from ghost_ledger import heads
from ghost_ledger.witness import kept
from ghost_ledger.witness.asking import Reply
from ghost_ledger.witness.kept import Kept
from support.bundles import Log
from support.cosigners import asking, cosigned_head, named

LOG = Log().session().finish().log
NOTE = cosigned_head(LOG, 1, 2)


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def test_a_cosigned_head_is_kept_and_verified_again(house: Home):
    with Kept.of(house).held():
        Kept.of(house).save(LOG.vkey, NOTE)
    found = Kept.of(house).load(LOG.vkey, [named(1), named(3)])
    assert found is not None
    assert (found.note, found.head.size, found.signed.keys()) == (NOTE, 3, {named(1)})
    assert heads.remembered_in(house, "db") is None


@pytest.mark.parametrize(
    "note", [None, b"", NOTE[:-9] + b"AAAAAAAA\n", Log(number=4).session().log.head()]
)
def test_what_does_not_hold_is_none(house: Home, note: bytes | None):
    with Kept.of(house).held():
        if note is not None:
            Kept.of(house).save(LOG.vkey, note)
    assert Kept.of(house).load(LOG.vkey, [named(1), named(2)]) is None


def test_evidence_of_a_conflict_has_both_sides(house: Home):
    request = asking(LOG, 0)
    reply = Reply(named(1), "conflict", "it has signed more", "", request, 409, b"10\n\xff")
    with Kept.of(house).held():
        path = Kept.of(house).keep_evidence("https://w.test", reply)
        assert Kept.of(house).keep_evidence("https://w.test", reply) == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    said = json.loads(path.read_text())
    assert said["request"].encode() == request
    assert (said["status"], said["answer"]) == (409, "10\n\ufffd")
    assert said["witness"] == named(1).format()


def test_evidence_does_not_fill_the_disk(house: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept, "EVIDENCE_LIMIT", 2)
    with Kept.of(house).held():
        for number in range(4):
            reply = Reply(named(1), "conflict", "", "", b"", 409, b"%d\n" % number)
            Kept.of(house).keep_evidence("https://w.test", reply)
    assert len([*(house.heads / "cosigned" / "evidence").iterdir()]) == 2


def test_a_folder_that_cannot_be_used_is_a_clear_error(house: Home):
    (house.heads / "cosigned").write_text("")
    with pytest.raises(UnavailableError) as caught, Kept.of(house).held():
        raise AssertionError
    assert caught.value.code == "heads.unwritable"
