from __future__ import annotations

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger import seal
from ghost_ledger.checkpoint import head_text, sign_checkpoint
from ghost_ledger.note import Vkey
from ghost_ledger.seal import Seal, open_seal, parse_seal, seal_text, sign_seal
from ghost_ledger.tree import leaf_hash, root
from support.bundles import ORIGIN, Log, key, sid

SID = sid(7)
HASHES = [leaf_hash(b"spawn"), leaf_hash(b"closed")]
VKEY = Vkey(f"{ORIGIN}/s/{SID}", key(1).public)


def test_a_seal_is_a_checkpoint_of_the_session():
    assert seal_text(ORIGIN, SID, HASHES) == head_text(f"{ORIGIN}/s/{SID}", 2, root(HASHES))


def test_a_seal_opens_under_the_session_key():
    note = sign_seal(key(1), ORIGIN, SID, HASHES)
    assert open_seal(note, [VKEY]) == Seal(ORIGIN, SID, 2, root(HASHES))


def test_a_seal_of_another_key_is_refused():
    with pytest.raises(IntegrityError) as caught:
        open_seal(sign_seal(key(2), ORIGIN, SID, HASHES), [VKEY])
    assert caught.value.code == "ledger.signature"


def test_a_seal_depends_on_the_order_of_entries():
    assert seal_text(ORIGIN, SID, HASHES) != seal_text(ORIGIN, SID, HASHES[::-1])


@pytest.mark.parametrize("size", [0, 1])
def test_no_seal_covers_fewer_than_two_entries(size: int):
    with pytest.raises(IntegrityError):
        seal_text(ORIGIN, SID, HASHES[:size])
    with pytest.raises(IntegrityError, match="at least 2"):
        parse_seal(head_text(f"{ORIGIN}/s/{SID}", size, root(HASHES)))


@pytest.mark.parametrize("origin", [ORIGIN, "/s/x", f"{ORIGIN}/s/", f"{ORIGIN}/s/a/b"])
def test_a_checkpoint_of_something_else_is_no_seal(origin: str):
    with pytest.raises(IntegrityError) as caught:
        parse_seal(head_text(origin, 2, root(HASHES)))
    assert caught.value.code == "ledger.seal"


def test_a_log_head_is_no_seal_even_under_the_same_key():
    log = Log()
    with pytest.raises(IntegrityError):
        open_seal(sign_checkpoint(log.key, ORIGIN, 2, root(HASHES)), [log.vkey])


def test_the_smallest_session_is_spawned_and_closed():
    assert seal.SMALLEST == 2
