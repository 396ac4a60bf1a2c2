from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest

from ghost_core.errors import NotFoundError, UnavailableError
from ghost_ledger.session import owner_lock
from ghost_ledger.session.custody import Custody, is_owned
from ghost_ledger.session.runtime import SessionFolder

type Launch = Callable[..., subprocess.Popen[str]]

HOLD = """
import sys
from ghost_ledger.session.custody import Custody
custody = Custody.acquire(sys.argv[1])
print(custody.key.public.hex(), flush=True)
sys.stdin.read()
"""


def test_a_session_has_one_owner_at_a_time(sid: str, launch: Launch) -> None:
    child = launch(HOLD, sid)
    assert child.stdout.readline()
    assert is_owned(sid)
    with pytest.raises(UnavailableError, match=f"owned by process {child.pid}") as caught:
        Custody.acquire(sid)
    assert caught.value.code == "session.owned"


def test_the_lock_of_a_killed_owner_is_free_for_the_next(sid: str, launch: Launch) -> None:
    child = launch(HOLD, sid)
    public = child.stdout.readline().strip()
    child.kill()
    child.wait(timeout=5)
    assert not is_owned(sid)
    with Custody.acquire(sid) as custody:
        assert custody.key.public.hex() == public


def test_a_child_process_does_not_inherit_the_lock(sid: str) -> None:
    with Custody.acquire(sid) as custody:
        assert not os.get_inheritable(custody._lock)


def test_a_lock_that_its_owner_removed_meanwhile_is_no_lock(sid: str) -> None:
    folder = SessionFolder(sid)
    held = owner_lock.take(folder)
    folder.lock.rename(folder.path / "old")
    folder.lock.touch(0o600)
    os.close(held)
    waiting = os.open(folder.path / "old", os.O_RDWR)
    try:
        assert not owner_lock._still_there(folder, waiting)
        folder.lock.unlink()
        assert not owner_lock._still_there(folder, waiting)
    finally:
        os.close(waiting)
    with pytest.raises(NotFoundError):
        owner_lock.take(folder)
