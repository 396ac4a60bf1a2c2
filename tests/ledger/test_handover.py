"""A log key names the next one: both must sign, and nobody else is believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger.checkpoint import open_checkpoint
from ghost_ledger.entry import open_leaf, parse_envelope
from ghost_ledger.handover import (
    Handover,
    followers,
    merged,
    open_handover,
    predecessors,
    sign_handover,
)
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey, sign_note, split
from support.bundles import ORIGIN, key


def vkey(number: int, origin: str = ORIGIN) -> Vkey:
    return Vkey(origin, key(number).public)


def note(old: int, new: int, origin: str = ORIGIN) -> bytes:
    return sign_handover(key(old), key(new), origin)


def signed(text: bytes, *keys: SecretKey) -> bytes:
    notes = [sign_note(each, ORIGIN, text) for each in keys]
    return notes[0] if len(notes) == 1 else merged(*notes)


def test_both_keys_are_named_and_have_signed() -> None:
    assert open_handover(note(1, 2)) == Handover(vkey(1), vkey(2))
    assert len(split(note(1, 2))[1]) == 2


TEXT = Handover(vkey(1), vkey(2)).text
FORGED = {
    "without the old key": signed(TEXT, key(2)),
    "without the new key": signed(TEXT, key(1)),
    "the old key of another": signed(TEXT, key(3), key(2)),
    "a text of another": merged(sign_note(key(1), ORIGIN, TEXT + b"\n"), note(1, 2)),
    "to itself": signed(Handover(vkey(1), vkey(1)).text, key(1)),
    "another title": signed(TEXT.replace(b"v1", b"v2"), key(1), key(2)),
    "another line": signed(TEXT + b"more\n", key(1), key(2)),
    "another log": signed(TEXT.replace(ORIGIN.encode(), b"ghost.test/x", 1), key(1), key(2)),
    "two logs": signed(Handover(vkey(1), vkey(2, "ghost.test/x")).text, key(1), key(2)),
    "not a key": signed(TEXT.replace(b"+", b"-"), key(1), key(2)),
    "nothing": b"",
}


@pytest.mark.parametrize("forged", FORGED)
def test_another_note_is_refused(forged: str) -> None:
    with pytest.raises(IntegrityError):
        open_handover(FORGED[forged])


def test_no_byte_of_a_note_can_be_changed() -> None:
    honest = note(1, 2)
    for at in range(len(honest)):
        forged = bytearray(honest)
        forged[at] ^= 1
        with pytest.raises(IntegrityError):
            open_handover(bytes(forged))


@given(st.binary(max_size=200), st.booleans())
def test_other_bytes_are_an_error_and_no_crash(data: bytes, titled: bool) -> None:
    forged = TEXT + data if titled else data
    with pytest.raises(IntegrityError):
        open_handover(forged)


def test_it_is_neither_a_checkpoint_nor_an_entry() -> None:
    with pytest.raises(IntegrityError):
        open_checkpoint(note(1, 2), [vkey(1)])
    with pytest.raises(IntegrityError):
        open_leaf(note(1, 2))
    with pytest.raises(IntegrityError):
        parse_envelope(TEXT)


def test_a_trusted_key_leads_to_those_after_it_and_never_back() -> None:
    notes = (note(1, 2), note(2, 3))
    assert followers(notes, [vkey(1)]) == (vkey(1), vkey(2), vkey(3))
    assert followers(notes, [vkey(2)]) == (vkey(2), vkey(3))
    assert followers(notes, [vkey(3)]) == (vkey(3),)
    assert predecessors(notes, [vkey(3)]) == (vkey(3), vkey(2), vkey(1))
    assert predecessors(notes, [vkey(1)]) == (vkey(1),)


def test_what_a_barred_key_or_a_stranger_says_is_not_followed() -> None:
    notes = (note(1, 2), note(7, 8), note(2, 3))
    assert followers(notes, [vkey(1)], barred={vkey(1)}) == (vkey(1),)
    assert followers(notes, [vkey(1)], barred={vkey(2)}) == (vkey(1), vkey(2))
    assert vkey(8) not in followers(notes, [vkey(1)])
    assert followers([note(1, 2, "ghost.test/x")], [vkey(1)]) == (vkey(1),)


def test_a_note_that_does_not_hold_is_an_error() -> None:
    with pytest.raises(IntegrityError):
        followers([FORGED["without the old key"]], [vkey(1)])
