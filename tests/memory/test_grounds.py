from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import NotFoundError, UnavailableError, UsageError
from ghost_memory import grounds
from ghost_memory.checkout import Checkout


def plain(path: str) -> Checkout:
    return Checkout(path)


def repository(path: str) -> Checkout:
    return Checkout(f"{path}/src", path, f"{path}/.git")


@pytest.mark.parametrize("path", ["/", "/tmp", "/home", "/dev/shm", "/var/tmp"])
def test_what_everybody_can_write_to_is_never_a_project(path: str) -> None:
    assert grounds.are_shared(plain(path))
    assert grounds.are_shared(repository(path))


@pytest.mark.parametrize("path", ["/root", "/etc", "/srv", "/usr/local", "/home/ada"])
def test_a_folder_of_the_system_or_a_home_is_one_where_it_holds_a_repository(path: str) -> None:
    assert grounds.are_shared(plain(path))
    assert grounds.are_shared(Checkout(path, path))  # its `.git` leads nowhere
    assert not grounds.are_shared(repository(path))


def test_the_home_of_this_user_is_one_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/people/far/away/ada")
    assert grounds.are_shared(plain("/people/far/away/ada"))
    assert not grounds.are_shared(plain("/people/far/away/ada/app"))


@pytest.mark.parametrize("path", ["/app", "/repo", "/workspace", "/srv/app", "/tmp/new1", "/x"])
def test_the_length_of_a_path_says_nothing(path: str) -> None:
    assert grounds.require(plain(path)) == path
    assert grounds.require(repository(path)) == path


def test_who_is_refused_is_told_what_to_do_instead() -> None:
    with pytest.raises(UsageError, match="'/root': can be no project, a home or") as caught:
        grounds.require(plain("/root"))
    assert caught.value.hint is not None
    assert "ghost project bind NAME DIR" in caught.value.hint


def test_what_is_no_directory_is_called_what_it_is(tmp_path: Path) -> None:
    grounds.require_directory(tmp_path)
    with pytest.raises(NotFoundError, match="nowhere': does not exist"):
        grounds.require_directory(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(UnavailableError, match="file': is a file, expected a directory"):
        grounds.require_directory(tmp_path / "file")
