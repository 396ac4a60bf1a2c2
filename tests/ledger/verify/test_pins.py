from __future__ import annotations

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.note import Vkey
from ghost_ledger.verify.pins import match_session, read_pins
from support.bundles import ORIGIN, Log, key, sid

LOG = Log()
SESSION = LOG.session()


def pins(*keys: str):
    return read_pins(keys, ORIGIN, SESSION.sid)


def test_keys_are_sorted_by_the_name_they_bear():
    found = pins(SESSION.vkey.format(), LOG.vkey.format(), "ed25519_public_" + key(3).public.hex())
    assert found.given
    assert found.session == (SESSION.vkey,)
    assert found.log == (LOG.vkey,)
    assert found.bare == (key(3).public,)


def test_keys_of_other_sessions_and_logs_fall_out():
    found = pins(LOG.session(8).vkey.format(), Log("else.test").vkey.format())
    assert found.given
    assert not found.session + found.log


def test_no_key_is_no_pin():
    assert not pins().given


@pytest.mark.parametrize(
    "text",
    ["", "key", "ed25519_public_00", "ed25519_public_" + "AB" * 32, "ed25519_public_" + "00" * 32,
     "ed25519_public_01" + "00" * 31, SESSION.vkey.format() + " "],
)  # fmt: skip
def test_a_text_that_is_no_key_is_refused(text: str):
    with pytest.raises(IntegrityError) as caught:
        pins(text)
    assert caught.value.code == "ledger.key"


def test_a_session_key_matches_in_both_spellings():
    assert match_session(pins(SESSION.vkey.format()), SESSION.vkey)
    assert match_session(pins("ed25519_public_" + SESSION.key.public.hex()), SESSION.vkey)


def test_a_key_of_somebody_else_does_not_match():
    assert not match_session(pins("ed25519_public_" + key(3).public.hex()), SESSION.vkey)
    assert not match_session(pins(LOG.vkey.format()), SESSION.vkey)


def test_another_key_under_the_name_of_the_session_is_an_error():
    other = Vkey(SESSION.name, key(3).public)
    with pytest.raises(IntegrityError, match="is not the session's"):
        match_session(pins(other.format()), SESSION.vkey)
    assert sid(7) in other.name
