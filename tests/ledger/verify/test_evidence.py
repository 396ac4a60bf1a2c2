from __future__ import annotations

import pytest

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger.note import Vkey
from ghost_ledger.tree import leaf_hash
from ghost_ledger.verify.evidence import Evidence, Leaf, bad_entry, declared_key, read_leaves
from ghost_ledger.verify.pins import Pins
from support.bundles import Log, Session, key

NO_PINS = Pins(given=False, session=(), log=(), bare=())


def evidence(found: Session) -> Evidence:
    return Evidence(found.bundle(), read_leaves(found.notes), NO_PINS, found.vkey, ())


def spawn(**fields: str) -> Leaf:
    return read_leaves(Log().session(**fields).notes)[0]


def test_leaves_carry_their_own_hash_and_no_problem():
    found = Log().session().finish()
    leaves = read_leaves(found.notes)
    assert [leaf.hash for leaf in leaves] == [leaf_hash(note) for note in found.notes]
    assert [leaf.problem for leaf in leaves] == [None] * 3


def test_a_leaf_that_cannot_be_read_says_why():
    found = Log().session()
    found.add_raw(type="session.unheard")
    found.add_raw(type="recorder.gap", count=1)
    _, unknown, broken = read_leaves(found.notes)
    assert isinstance(unknown.problem, IncompleteError)
    assert isinstance(broken.problem, IntegrityError)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_entry_that_is_no_note_is_named_by_its_place(at: int):
    notes = Log().session().finish().notes
    notes[at] = b"garbage"
    with pytest.raises(IntegrityError, match=f"entry {at}: "):
        read_leaves(notes)


def test_the_seal_entry_is_not_among_those_it_covers():
    found = Log().session().close()
    assert evidence(found).seal_leaf is None
    assert len(evidence(found).body) == 2
    sealed = evidence(found.seal_up())
    assert sealed.seal_leaf == sealed.leaves[2]
    assert sealed.body == sealed.leaves[:2]


def test_the_spawn_entry_names_the_key_of_its_session():
    found = Log().session()
    leaf = read_leaves(found.notes)[0]
    assert declared_key(leaf, "vkey", found.name) == found.vkey
    assert declared_key(leaf, "log_vkey", found.log.origin) == found.log.vkey


def test_an_entry_that_cannot_be_read_or_has_no_such_field_names_no_key():
    found = Log().session().close()
    found.add_raw(type="session.spawn", v=2, vkey=found.vkey.format())
    leaves = read_leaves(found.notes)
    assert declared_key(leaves[1], "vkey", found.name) is None
    assert declared_key(leaves[2], "vkey", found.name) is None


def test_a_declared_key_of_another_name_or_of_low_order_is_refused():
    foreign = Vkey("else.test", key(5).public).format()
    with pytest.raises(IntegrityError, match="else.test"):
        declared_key(spawn(vkey=foreign), "vkey", "mine.test")
    with pytest.raises(IntegrityError):
        declared_key(spawn(vkey=foreign[:-4] + "AAAA"), "vkey", "else.test")


def test_a_bad_entry_is_an_integrity_error_that_names_it():
    assert bad_entry(7, "is bad").message == "entry 7: is bad"
    assert bad_entry(7, "is bad").code == "ledger.evidence"
