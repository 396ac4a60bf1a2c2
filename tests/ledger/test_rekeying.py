"""The entry that gives a log another key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import entry, identity
from ghost_ledger.handover import open_handover
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey
from support.ledger import open_recorder, rows, spawned


def test_the_entry_says_it_and_the_head_names_the_new_key(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        old, new = identity.log_key(Home(tmp_path)), SecretKey.generate()
        before = recorder.log_vkey
        receipt = recorder.rekey(old, new, "yearly")
        after = Vkey(recorder.origin, new.public).format()
        assert recorder.log_vkey == after
        assert rows(tmp_path, "SELECT vkey FROM log_head") == [after]
        fields = entry.parse(receipt.body).fields
        said = open_handover(str(fields["note"]).encode())
        assert (said.old.format(), said.new.format()) == (before, after)
        assert (fields["vkey"], fields["revoked"]) == (after, before)
        assert (fields["from_size"], fields["reason"]) == (receipt.idx + 1, "yearly")
        # A session whose draft was made with the old key in mind names the one in force.
        owned = spawned(recorder)
        (body,) = rows(tmp_path, "SELECT body FROM entries WHERE sid = ?", owned.sid)
        assert entry.parse(body).fields["log_vkey"] == after


def test_a_key_that_is_not_the_logs_changes_nothing(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        before = recorder.log_vkey
        with pytest.raises(IntegrityError) as caught:
            recorder.rekey(SecretKey.generate(), SecretKey.generate(), "mine")
        assert caught.value.code == "ledger.log_key"
        assert recorder.log_vkey == before
    assert rows(tmp_path, "SELECT count(*) FROM entries WHERE type = 'log.key'") == [0]
