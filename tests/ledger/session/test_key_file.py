from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.errors import GhostError, IntegrityError, UnavailableError
from ghost_ledger.keys import SecretKey
from ghost_ledger.session import key_file
from ghost_ledger.session.custody import Custody, is_owned
from ghost_ledger.session.runtime import SessionFolder


def refused(sid: str) -> tuple[type[GhostError], str]:
    with pytest.raises(GhostError) as caught:
        Custody.acquire(sid)
    return type(caught.value), caught.value.code


def test_the_key_file_is_private_and_holds_two_lines_of_hex(root: Path) -> None:
    with Custody.create(ids.session_id()) as custody:
        assert stat.S_IMODE(custody.folder.key.stat().st_mode) == 0o600
        assert stat.S_IMODE(custody.folder.path.stat().st_mode) == 0o700
        seeds = [bytes.fromhex(line) for line in custody.folder.key.read_text().splitlines()]
        assert seeds == [custody.key.seed().reveal(), custody.wire_key.seed().reveal()]


@pytest.mark.parametrize(
    "spoil",
    [
        b"",
        b"00" * 32 + b"\n",
        b"zz" * 32 + b"\n" + b"00" * 32 + b"\n",
        b"00" * 32 + b" " + b"00" * 32 + b"\n",
        b"00" * 32 + b"\n" + b"00" * 32 + b"\n" + b"x",
    ],
)
def test_a_damaged_key_file_is_refused(sid: str, root: Path, spoil: bytes) -> None:
    (root / sid / "ed25519_key").write_bytes(spoil)
    assert refused(sid) == (IntegrityError, "session.key_file")
    assert not is_owned(sid)


def test_what_was_written_is_read_and_never_over_another(sid: str, root: Path) -> None:
    folder = SessionFolder(sid)
    folder.key.unlink()
    keys = SecretKey.generate(), SecretKey.generate()
    key_file.write(folder, *keys)
    assert [each.public for each in key_file.read(folder)] == [each.public for each in keys]
    with pytest.raises(UnavailableError) as caught:
        key_file.write(folder, *keys)
    assert caught.value.code == "session.folder"


def test_a_file_that_is_not_whole_is_an_error(sid: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SessionFolder(sid)
    folder.key.unlink()
    monkeypatch.setattr(os, "write", lambda *_: 7)
    with pytest.raises(UnavailableError, match="no space left"):
        key_file.write(folder, SecretKey.generate(), SecretKey.generate())


def test_overwriting_is_only_claimed_where_zeros_are_read_back(
    sid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = SessionFolder(sid)
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    assert not key_file.overwrite(folder.key)
    assert key_file.overwrite(folder.key)  # it is gone


def test_where_nothing_can_be_written_nothing_is_claimed(
    sid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> int:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "pwrite", fails)
    assert not key_file.overwrite(SessionFolder(sid).key)
