from __future__ import annotations

import os
from pathlib import Path

import pytest

from ghost_core import ids
from ghost_core.errors import NotFoundError, UnavailableError, UsageError
from ghost_ledger.session.runtime import SessionFolder


@pytest.mark.parametrize(
    "sid", ["", "gh_..", "gh_" + "a" * 31, "gh_" + "A" * 32, "../gh_x", "gh_" + "a" * 32 + "\n"]
)
def test_an_id_that_could_leave_the_folder_is_no_session_id(root: Path, sid: str) -> None:
    with pytest.raises(UsageError) as caught:
        SessionFolder(sid, root)
    assert caught.value.code == "session.id"


def test_the_default_root_is_the_runtime_folder(root: Path) -> None:
    sid = ids.session_id()
    assert SessionFolder(sid).path == root / sid


def test_a_session_without_folder_has_no_key(root: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        SessionFolder(ids.session_id(), root).open()
    assert caught.value.code == "session.key"


def test_a_folder_that_others_may_enter_is_refused(root: Path) -> None:
    folder = SessionFolder(ids.session_id(), root)
    folder.path.mkdir(mode=0o700)
    folder.path.chmod(0o750)
    with pytest.raises(UnavailableError) as caught:
        folder.open()
    assert caught.value.code == "session.foreign"


def test_a_link_in_place_of_the_folder_is_refused(root: Path, tmp_path: Path) -> None:
    folder = SessionFolder(ids.session_id(), root)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnavailableError) as caught:
        folder.open()
    assert caught.value.code == "session.foreign"


def test_the_descriptor_of_the_folder_is_closed_on_exec(root: Path) -> None:
    folder = SessionFolder(ids.session_id(), root)
    folder.path.mkdir(mode=0o700)
    descriptor = folder.open()
    try:
        assert not os.get_inheritable(descriptor)
    finally:
        os.close(descriptor)
