"""Which hook files judge a call, and which of them may be trusted."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ghost_hooks.folder import Hook, HookFolder, UnsafeError, read


def _names(folder: HookFolder, tool: str = "stripe", action: str = "create") -> list[str]:
    return [hook.name for hook in folder.find(tool, action, "pre")]


def _file(folder: Path, name: str, text: str = "x", mode: int = 0o700) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def test_files_of_action_tool_and_everybody_run_in_that_order(tmp_path: Path) -> None:
    for name in (
        "_pre.sh",
        "stripe_pre.json",
        "stripe_create_pre.py",
        "stripe_create_pre.sh",
        "stripe_create_pre",
        "stripe_create_post.sh",
        "stripe_refund_pre.sh",
        "stripe_create_prelude.sh",
        "other_pre.sh",
    ):
        _file(tmp_path, name)
    assert _names(HookFolder(tmp_path)) == [
        "stripe_create_pre",
        "stripe_create_pre.py",
        "stripe_create_pre.sh",
        "stripe_pre.json",
        "_pre.sh",
    ]


def test_left_overs_of_editors_and_hidden_files_do_not_count(tmp_path: Path) -> None:
    for name in ("_pre.sh~", "_pre.bak", "_pre.sh.swp", "._pre.sh", ".hidden"):
        _file(tmp_path, name)
    assert _names(HookFolder(tmp_path)) == []


def test_names_never_leave_the_folder(tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    _file(tmp_path, "evil_pre.sh")
    _file(hooks, ".._evil_pre.sh")
    folder = HookFolder(hooks)
    assert _names(folder, "../evil", "x") == []
    assert _names(folder, "a/../../evil", "../../evil") == []
    assert [hook.path.parent for hook in folder.find("..", "evil", "pre")] == []


def test_a_raw_scope_is_looked_up_by_host_and_method(tmp_path: Path) -> None:
    _file(tmp_path, "api.example.com_POST_pre.sh")
    assert _names(HookFolder(tmp_path), "api.example.com", "POST") == [
        "api.example.com_POST_pre.sh"
    ]


def test_a_missing_folder_has_no_hooks(tmp_path: Path) -> None:
    folder = HookFolder(tmp_path / "missing")
    assert _names(folder) == []
    assert folder.listing().names == ()


def test_a_new_file_counts_at_once_and_a_removed_one_no_more(tmp_path: Path) -> None:
    folder = HookFolder(tmp_path)
    assert _names(folder) == []
    path = _file(tmp_path, "_pre.sh")
    assert _names(folder) == ["_pre.sh"]
    path.unlink()
    assert _names(folder) == []


def test_a_settled_folder_is_not_read_again(tmp_path: Path) -> None:
    later = tmp_path.stat().st_ctime_ns + 10**9
    folder = HookFolder(tmp_path, now_ns=lambda: later)
    assert folder.listing() is folder.listing()
    fresh = HookFolder(tmp_path, now_ns=lambda: later - 10**9)
    assert fresh.listing() is not fresh.listing()


def test_a_folder_that_others_may_write_refuses_every_call(tmp_path: Path) -> None:
    folder = HookFolder(tmp_path)
    tmp_path.chmod(0o777)
    (hook,) = folder.find("a", "b", "pre")
    with pytest.raises(UnsafeError, match="written by others"):
        read(hook)
    tmp_path.chmod(0o700)
    assert folder.find("a", "b", "pre") == ()


def test_a_file_is_read_once_with_its_hash(tmp_path: Path) -> None:
    path = _file(tmp_path, "_pre.sh", "text")
    content = read(Hook(path, tmp_path))
    assert content.hash == hashlib.sha256(b"text").hexdigest()
    assert content.executable
    path.chmod(0o600)
    assert not read(Hook(path, tmp_path)).executable


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "_pre.sh", mode=0o702)
    with pytest.raises(UnsafeError, match="written by others"):
        read(Hook(path, tmp_path))


def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_followed(tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir(mode=0o700)
    outside = _file(tmp_path, "outside.sh")
    inside = _file(hooks, "inside.sh")
    (hooks / "_pre.sh").symlink_to(outside)
    (hooks / "a_pre.sh").symlink_to(inside)
    (hooks / "loop").symlink_to(hooks / "loop")
    with pytest.raises(UnsafeError, match="out of its folder"):
        read(Hook(hooks / "_pre.sh", hooks))
    assert read(Hook(hooks / "a_pre.sh", hooks)).path == inside
    with pytest.raises(UnsafeError, match="cannot be read"):
        read(Hook(hooks / "loop", hooks))


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "_pre.d").mkdir()
    os.mkfifo(tmp_path / "_pre.fifo", 0o600)
    for name in ("_pre.d", "_pre.fifo", "missing"):
        with pytest.raises(UnsafeError):
            read(Hook(tmp_path / name, tmp_path))


def test_another_file_than_the_expected_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "check.sh", "one")
    expected = hashlib.sha256(b"one").hexdigest()
    assert read(Hook(path, tmp_path, expected=expected)).hash == expected
    path.write_text("two")
    with pytest.raises(UnsafeError, match="hash differs"):
        read(Hook(path, tmp_path, expected=expected))


def test_a_kept_listing_answers_again_and_does_not_grow_without_end(tmp_path: Path) -> None:
    _file(tmp_path, "_pre.sh")
    later = tmp_path.stat().st_ctime_ns + 10**9
    folder = HookFolder(tmp_path, now_ns=lambda: later)
    assert folder.find("a", "b", "pre") is folder.find("a", "b", "pre")
    for number in range(5000):
        assert len(folder.find(str(number), "b", "pre")) == 1


def test_a_file_in_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    _file(inner, "real.sh")
    inner.chmod(0o777)
    (tmp_path / "_pre.sh").symlink_to(inner / "real.sh")
    with pytest.raises(UnsafeError, match="lies in a folder"):
        read(Hook(tmp_path / "_pre.sh", tmp_path))


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "_pre.bin")
    os.truncate(path, 64 * 1024 * 1024 + 1)
    with pytest.raises(UnsafeError, match="64 MiB"):
        read(Hook(path, tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "_pre.sh")
    os.chown(path, 12345, -1)
    with pytest.raises(UnsafeError, match="another user"):
        read(Hook(path, tmp_path))
