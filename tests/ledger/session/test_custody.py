from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.errors import GhostError, IntegrityError, NotFoundError, UnavailableError
from ghost_ledger.keys import verify
from ghost_ledger.session.custody import Custody, discard, has_key, is_owned

type Launch = Callable[..., subprocess.Popen[str]]


def refused(sid: str):
    with pytest.raises(GhostError) as caught:
        Custody.acquire(sid)
    return type(caught.value), caught.value.code


def test_the_next_owner_gets_the_same_two_keys(root: Path) -> None:
    first = Custody.create(ids.session_id())
    publics = first.key.public, first.wire_key.public
    first.release()
    with Custody.acquire(first.folder.sid) as second:
        assert (second.key.public, second.wire_key.public) == publics
        verify(publics[0], b"entry", second.key.sign(b"entry"))
        verify(publics[1], b"token", second.wire_key.sign(b"token"))
    assert publics[0] != publics[1]


def test_without_persistence_no_file_ever_holds_the_seed(root: Path) -> None:
    with Custody.create(ids.session_id(), persist=False) as custody:
        assert not has_key(custody.folder.sid)
        assert is_owned(custody.folder.sid)
        assert [path.name for path in custody.folder.path.iterdir()] == ["lock"]
    assert refused(custody.folder.sid) == (NotFoundError, "session.key")


def test_asking_who_owns_a_session_takes_nothing_away(sid: str) -> None:
    assert not is_owned(sid)
    with Custody.acquire(sid):
        assert is_owned(sid)
    assert not is_owned(sid)
    assert not is_owned(ids.session_id())


def test_destroying_leaves_neither_key_nor_folder(root: Path) -> None:
    custody = Custody.create(ids.session_id())
    custody.folder.log.write_text("debug")
    with custody.folder.key.open("rb") as key_file:
        assert custody.destroy()
        assert key_file.read().strip(b"\0") == b""
    assert custody.key.wiped
    assert custody.wire_key.wiped
    assert not custody.folder.path.exists()
    assert refused(custody.folder.sid) == (NotFoundError, "session.key")


def test_destruction_is_not_claimed_when_something_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    custody = Custody.create(ids.session_id())
    custody.folder.key.unlink()
    custody.folder.key.symlink_to("/dev/null")
    assert not custody.destroy()


def test_a_released_key_signs_nothing(sid: str) -> None:
    with Custody.acquire(sid) as custody:
        pass
    with pytest.raises(IntegrityError):
        custody.key.sign(b"late")


def test_the_same_id_cannot_get_new_keys(sid: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        Custody.create(sid)
    assert caught.value.code == "session.folder"
    assert has_key(sid)


@pytest.mark.parametrize("name", ["ed25519_key", "lock"])
def test_a_file_that_others_may_read_is_refused(sid: str, root: Path, name: str) -> None:
    (root / sid / name).chmod(0o644)
    assert refused(sid) == (UnavailableError, "session.foreign")


@pytest.mark.parametrize("name", ["ed25519_key", "lock"])
def test_a_link_is_never_followed(sid: str, root: Path, tmp_path: Path, name: str) -> None:
    (root / sid / name).rename(tmp_path / "moved")
    (root / sid / name).symlink_to(tmp_path / "moved")
    assert refused(sid) == (UnavailableError, "session.foreign")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
@pytest.mark.parametrize("name", ["ed25519_key", "lock", ""])
def test_what_belongs_to_somebody_else_is_refused(sid: str, root: Path, name: str) -> None:
    os.chown(root / sid / name, 65534, 65534)
    assert refused(sid) == (UnavailableError, "session.foreign")


def test_a_missing_key_frees_the_lock_again(sid: str, root: Path) -> None:
    (root / sid / "ed25519_key").unlink()
    assert refused(sid) == (NotFoundError, "session.key")
    assert not is_owned(sid)


def test_an_owner_dumps_no_core_and_is_not_traceable(root: Path, launch: Launch) -> None:
    child = launch(
        "import ctypes, resource\n"
        "from ghost_core import ids\n"
        "from ghost_ledger.session.custody import Custody\n"
        "custody = Custody.create(ids.session_id())\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE)[0])\n"
    )
    assert child.communicate(timeout=5)[0].split() == ["0", "0"]


REMNANTS = """
import os
from ghost_core import ids
from ghost_core.secret import SecretBytes
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.residual import erase, scan

custody = Custody.create(ids.session_id())
custody.release()
with Custody.acquire(custody.folder.sid) as again:
    again.key.sign(b"entry")

text = bytearray(130)
with open(custody.folder.key, "rb", buffering=0) as file:
    file.readinto(text)
needles = []
for start in (0, 65):
    line, seed = bytes(text[start : start + 64]), bytearray(32)
    for at in range(32):
        seed[at] = int(chr(line[2 * at]) + chr(line[2 * at + 1]), 16)
    raw = bytes(seed)
    needles += [SecretBytes(line), SecretBytes(raw)]
    for value in (line, raw, seed):
        erase(value)
found = scan(needles + [SecretBytes(bytes(text[:32]))])
erase(text)
print(found, scan(needles))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the scan reads /proc")
def test_an_owner_that_let_go_holds_no_seed_in_its_memory(root: Path, launch: Launch) -> None:
    """The first number shows that the scan sees what is there: the text that the script holds."""
    before, after = launch(REMNANTS).communicate(timeout=5)[0].split()
    assert int(before) > 0
    assert after == "0"


FULL_DISK = """
import resource, sys
from ghost_core.errors import UnavailableError
from ghost_ledger.session.custody import Custody

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    Custody.create(sys.argv[1])
except UnavailableError as error:
    print(error.code)
"""


@pytest.mark.parametrize("room", ["0", "20"], ids=["not even the lock", "half a key"])
def test_a_session_that_cannot_be_written_leaves_nothing(
    root: Path, launch: Launch, room: str
) -> None:
    sid = ids.session_id()
    assert launch(FULL_DISK, sid, room).communicate(timeout=5)[0] == "session.folder\n"
    assert list(root.iterdir()) == []


def test_what_a_dead_owner_left_can_be_removed_and_what_a_living_one_holds_cannot(
    sid: str, root: Path
) -> None:
    with Custody.acquire(sid):
        assert not discard(sid)
        assert has_key(sid)
    assert discard(sid)
    assert not (root / sid).exists()
    assert discard(sid)


def test_a_folder_without_lock_is_removed_too(sid: str, root: Path) -> None:
    (root / sid / "lock").unlink()
    assert not is_owned(sid)
    assert discard(sid)
    assert not (root / sid).exists()


def test_a_foreign_folder_is_neither_owned_nor_removed(sid: str, root: Path) -> None:
    (root / sid).chmod(0o755)
    assert not is_owned(sid)
    assert not discard(sid)
    assert has_key(sid)
