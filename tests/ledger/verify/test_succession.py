"""The key of a log at each place, and the log before it."""

from __future__ import annotations

from typing import Any

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.entry import Entry
from ghost_ledger.handover import merged, sign_handover
from ghost_ledger.note import Vkey, sign_note, split
from ghost_ledger.verify.succession import Continued, Succession
from support.bundles import HASH, ORIGIN, key, sid


def vkey(number: int) -> str:
    return Vkey(ORIGIN, key(number).public).format()


def entry(type_: str, seq: int = 0, **fields: Any) -> Entry:
    return Entry(1, type_, ORIGIN, sid(1), seq, HASH, 1, "ent_1", fields, b"")


def change(old: int, new: int, size: int, **more: Any) -> Entry:
    note = sign_handover(key(old), key(new), ORIGIN).decode()
    fields = {"vkey": vkey(new), "revoked": vkey(old), "from_size": size, "note": note}
    return entry("log.key", **(fields | more))


def begun(number: int = 1) -> Succession:
    found = Succession(ORIGIN)
    found.spawned(entry("session.spawn", log_vkey=vkey(number)))
    return found


def test_each_session_names_the_key_in_force() -> None:
    found = begun()
    found.feed(entry("log.init", log_vkey=vkey(1)), 1)
    found.feed(change(1, 2, 6), 5)
    found.spawned(entry("session.spawn", log_vkey=vkey(2)))
    with pytest.raises(IntegrityError, match="names the log key"):
        found.spawned(entry("session.spawn", log_vkey=vkey(1)))
    found.feed(change(2, 3, 9), 8)
    found.finish(vkey(3))
    with pytest.raises(IntegrityError, match="the head names"):
        found.finish(vkey(2))
    assert (found.key, found.changes) == (vkey(3), 2)


def test_the_first_session_cannot_name_the_key_of_another_log() -> None:
    other = Vkey("ghost.test/other", key(1).public).format()
    with pytest.raises(IntegrityError, match="names the log key"):
        Succession(ORIGIN).spawned(entry("session.spawn", log_vkey=other))
    with pytest.raises(IntegrityError, match="another log key"):
        begun().feed(entry("log.init", log_vkey=vkey(2)), 1)


OWN = merged(
    sign_note(key(9), ORIGIN, split(sign_handover(key(1), key(9), ORIGIN))[0]),
    sign_note(key(8), ORIGIN, split(sign_handover(key(1), key(9), ORIGIN))[0]),
)


@pytest.mark.parametrize(
    "forged",
    [
        change(1, 2, 7),
        change(1, 2, 6, vkey=vkey(3)),
        change(1, 2, 6, revoked=vkey(3)),
        change(1, 2, 6, note=""),
        change(1, 9, 6, note=OWN.decode()),
        change(8, 9, 6),
        entry("log.key", vkey=vkey(9), reason="mine"),
    ],
    ids=["place", "key", "old key", "no note", "own signatures", "own keys", "bare"],
)
def test_a_change_that_the_old_key_did_not_sign_is_refused(forged: Entry) -> None:
    found = begun()
    with pytest.raises(IntegrityError):
        found.feed(forged, 5)
    assert found.key == vkey(1)


OLD = {"origin": "ghost.test/old", "size": 14, "root": HASH, "reason": "lost"}


def test_a_log_begins_with_what_it_continues_or_never_does() -> None:
    found = begun()
    found.feed(entry("log.continued", 2, **OLD), 2)
    assert found.continued == Continued("ghost.test/old", 14, HASH, "lost")
    for seq, idx, fields in ((2, 3, OLD), (3, 2, OLD), (2, 2, OLD | {"origin": ORIGIN})):
        with pytest.raises(IntegrityError, match="out of place"):
            begun().feed(entry("log.continued", seq, **fields), idx)
