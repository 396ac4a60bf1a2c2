from __future__ import annotations

import os
import stat

import pytest

from ghost_core import ids
from ghost_core.errors import GhostError, IntegrityError, NotFoundError, UnavailableError
from ghost_ledger.keys import verify
from ghost_ledger.session.custody import Custody, has_key, is_owned

HOLD = """
import sys
from ghost_ledger.session.custody import Custody
custody = Custody.acquire(sys.argv[1])
print(custody.key.public.hex(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def sid(root):
    """A session that was spawned and has no owner."""
    custody = Custody.create(ids.session_id())
    custody.release()
    return custody.folder.sid


def refused(sid):
    with pytest.raises(GhostError) as caught:
        Custody.acquire(sid)
    return type(caught.value), caught.value.code


def test_the_next_owner_gets_the_same_two_keys(root):
    first = Custody.create(ids.session_id())
    publics = first.key.public, first.wire_key.public
    first.release()
    with Custody.acquire(first.folder.sid) as second:
        assert (second.key.public, second.wire_key.public) == publics
        verify(publics[0], b"entry", second.key.sign(b"entry"))
        verify(publics[1], b"token", second.wire_key.sign(b"token"))
    assert publics[0] != publics[1]


def test_the_key_file_is_private_and_holds_two_lines_of_hex(root):
    with Custody.create(ids.session_id()) as custody:
        assert stat.S_IMODE(custody.folder.key.stat().st_mode) == 0o600
        assert stat.S_IMODE(custody.folder.path.stat().st_mode) == 0o700
        seeds = [bytes.fromhex(line) for line in custody.folder.key.read_text().splitlines()]
        assert seeds == [custody.key.seed().reveal(), custody.wire_key.seed().reveal()]


def test_without_persistence_no_file_ever_holds_the_seed(root):
    with Custody.create(ids.session_id(), persist=False) as custody:
        assert not has_key(custody.folder.sid)
        assert is_owned(custody.folder.sid)
        assert [path.name for path in custody.folder.path.iterdir()] == ["lock"]
    assert refused(custody.folder.sid) == (NotFoundError, "session.key")


def test_a_session_has_one_owner_at_a_time(sid, launch):
    child = launch(HOLD, sid)
    assert child.stdout.readline()
    assert is_owned(sid)
    with pytest.raises(UnavailableError, match=f"owned by process {child.pid}") as caught:
        Custody.acquire(sid)
    assert caught.value.code == "session.owned"


def test_the_lock_of_a_killed_owner_is_free_for_the_next(sid, launch):
    child = launch(HOLD, sid)
    public = child.stdout.readline().strip()
    child.kill()
    child.wait(timeout=5)
    assert not is_owned(sid)
    with Custody.acquire(sid) as custody:
        assert custody.key.public.hex() == public


def test_asking_who_owns_a_session_takes_nothing_away(sid):
    assert not is_owned(sid)
    with Custody.acquire(sid):
        assert is_owned(sid)
    assert not is_owned(sid)
    assert not is_owned(ids.session_id())


def test_a_child_process_does_not_inherit_the_lock(sid):
    with Custody.acquire(sid) as custody:
        assert not os.get_inheritable(custody._lock)


def test_destroying_leaves_neither_key_nor_folder(root):
    custody = Custody.create(ids.session_id())
    custody.folder.log.write_text("debug")
    with custody.folder.key.open("rb") as key_file:
        assert custody.destroy()
        assert key_file.read().strip(b"\0") == b""
    assert custody.key.wiped
    assert custody.wire_key.wiped
    assert not custody.folder.path.exists()
    assert refused(custody.folder.sid) == (NotFoundError, "session.key")


def test_destruction_is_not_claimed_when_something_stays(root, monkeypatch):
    custody = Custody.create(ids.session_id())
    custody.folder.key.unlink()
    custody.folder.key.symlink_to("/dev/null")
    assert not custody.destroy()


def test_a_released_key_signs_nothing(sid):
    with Custody.acquire(sid) as custody:
        pass
    with pytest.raises(IntegrityError):
        custody.key.sign(b"late")


def test_the_same_id_cannot_get_new_keys(sid):
    with pytest.raises(UnavailableError) as caught:
        Custody.create(sid)
    assert caught.value.code == "session.folder"
    assert has_key(sid)


@pytest.mark.parametrize("name", ["ed25519_key", "lock"])
def test_a_file_that_others_may_read_is_refused(sid, root, name):
    (root / sid / name).chmod(0o644)
    assert refused(sid) == (UnavailableError, "session.foreign")


@pytest.mark.parametrize("name", ["ed25519_key", "lock"])
def test_a_link_is_never_followed(sid, root, tmp_path, name):
    (root / sid / name).rename(tmp_path / "moved")
    (root / sid / name).symlink_to(tmp_path / "moved")
    assert refused(sid) == (UnavailableError, "session.foreign")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
@pytest.mark.parametrize("name", ["ed25519_key", "lock", ""])
def test_what_belongs_to_somebody_else_is_refused(sid, root, name):
    os.chown(root / sid / name, 65534, 65534)
    assert refused(sid) == (UnavailableError, "session.foreign")


@pytest.mark.parametrize("spoil", [b"", b"00" * 32 + b"\n", b"zz" * 32 + b"\n" + b"00" * 32 + b"\n", b"00" * 32 + b" " + b"00" * 32 + b"\n",
                                   b"00" * 32 + b"\n" + b"00" * 32 + b"\n" + b"x"])
def test_a_damaged_key_file_is_refused(sid, root, spoil):
    (root / sid / "ed25519_key").write_bytes(spoil)
    assert refused(sid) == (IntegrityError, "session.key_file")
    assert not is_owned(sid)


def test_a_missing_key_frees_the_lock_again(sid, root):
    (root / sid / "ed25519_key").unlink()
    assert refused(sid) == (NotFoundError, "session.key")
    assert not is_owned(sid)


def test_an_owner_dumps_no_core_and_is_not_traceable(root, launch):
    child = launch(
        "import ctypes, resource\n"
        "from ghost_core import ids\n"
        "from ghost_ledger.session.custody import Custody\n"
        "custody = Custody.create(ids.session_id())\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_CORE)[0])\n"
    )
    assert child.communicate(timeout=5)[0].split() == ["0", "0"]
