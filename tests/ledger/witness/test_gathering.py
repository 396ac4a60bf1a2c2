"""Asking several witnesses of a log, and which head goes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ghost_core.errors import FailedError
from ghost_core.paths import Home
from ghost_ledger.cosignature import WitnessKey, cosigned
from ghost_ledger.note import Vkey
from ghost_ledger.tree import consistency_proof, leaf_hash, root
from ghost_ledger.witness.gathering import Gathering, Place
from ghost_ledger.witness.kept import Kept
from ghost_ledger.witness.witness import Witness
from support.bundles import Log
from support.cosigners import asking, witness


class Small:
    """A log in memory, as the gathering sees one."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def sign(self) -> tuple[Vkey, bytes]:
        return self.log.vkey, self.log.head()

    def consistency(self, old: int, size: int) -> Sequence[bytes]:
        return consistency_proof(self.log.leaves, old, size)

    def root_at(self, size: int) -> bytes:
        return root(self.log.leaves[:size])


class Net:
    """Witnesses by the URL at which they are asked; `down` ones are not there."""

    def __init__(self, folder: Path, log: Log, count: int) -> None:
        self.found = {f"https://w{at}": _opened(folder / f"w{at}", log) for at in range(count)}
        self.down = set[str]()

    @property
    def keys(self) -> list[WitnessKey]:
        return [each.vkey for each in self.found.values()]

    def gathering(self, home: Home) -> Gathering:
        places = tuple(Place(url, each.vkey) for url, each in self.found.items())
        return Gathering(Kept.of(home), places, self.post)

    def post(self, url: str, body: bytes) -> tuple[int, bytes]:
        if url in self.down:
            raise FailedError("receiver: no answer in time")
        answer = self.found[url].add(body)
        return answer.status, answer.body.encode()


def _opened(folder: Path, log: Log) -> Witness:
    folder.mkdir()
    return witness(folder, [log.vkey])


@pytest.fixture
def house(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def grown(count: int) -> Log:
    log = Log()
    log.leaves = [leaf_hash(bytes([number])) for number in range(count)]
    return log


def test_all_sign_and_the_head_carries_them(tmp_path: Path, house: Home):
    log = grown(5)
    net = Net(tmp_path, log, 3)
    made = net.gathering(house).gather(Small(log))
    assert made.signed == set(net.keys)
    assert cosigned(made.note, net.keys).keys() == set(net.keys)
    assert (made.conflicts, made.evidence) == ((), ())
    log.leaves += [leaf_hash(b"more")]
    assert net.gathering(house).gather(Small(log)).signed == set(net.keys)


def test_one_that_is_down_is_missing_and_nothing_fails(tmp_path: Path, house: Home):
    log = grown(5)
    net = Net(tmp_path, log, 2)
    net.down = {"https://w1"}
    made = net.gathering(house).gather(Small(log))
    assert made.signed == {net.keys[0]}
    assert [each.state for each in made.replies] == ["signed", "unreachable"]


def test_cosignatures_of_one_head_add_up(tmp_path: Path, house: Home):
    log = grown(5)
    net = Net(tmp_path, log, 2)
    for down in ({"https://w1"}, {"https://w0"}):
        net.down = down
        made = net.gathering(house).gather(Small(log))
    assert made.signed == set(net.keys)


def test_an_earlier_head_goes_out_where_it_has_more_and_suffices(tmp_path: Path, house: Home):
    log = grown(5)
    net = Net(tmp_path, log, 2)
    first = net.gathering(house).gather(Small(log))
    log.leaves += [leaf_hash(b"more")]
    net.down = set(net.found)
    assert net.gathering(house).gather(Small(log), needed=5).note == first.note
    assert net.gathering(house).gather(Small(log), needed=6).note == log.head()


def test_an_earlier_head_of_another_history_does_not_go_out(tmp_path: Path, house: Home):
    log = grown(5)
    net = Net(tmp_path, log, 1)
    net.gathering(house).gather(Small(log))
    net.down = set(net.found)
    other = grown(6)
    other.leaves[0] = leaf_hash(b"forged")
    assert net.gathering(house).gather(Small(other), needed=1).note == other.head()
    shorter = grown(4)
    assert net.gathering(house).gather(Small(shorter), needed=1).note == shorter.head()


def test_a_conflict_is_kept_as_evidence(tmp_path: Path, house: Home):
    log = grown(5)
    net = Net(tmp_path, log, 2)
    assert net.found["https://w0"].add(asking(grown(9), 0)).status == 200
    made = net.gathering(house).gather(Small(log))
    assert made.signed == {net.keys[1]}
    (conflict,) = made.conflicts
    assert conflict.detail == "it has signed size 9, this log has 5"
    (path,) = made.evidence
    assert path.read_bytes().find(b'"https://w0"') > 0
