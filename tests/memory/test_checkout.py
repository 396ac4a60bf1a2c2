"""What a directory is to git, read from real repositories."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ghost_memory.checkout import Checkout, normal_remote
from support.repositories import git, repository


def test_a_directory_outside_git_is_a_path_and_nothing_else(tmp_path: Path) -> None:
    found = Checkout.of(tmp_path)
    assert found == Checkout(str(tmp_path.resolve()))
    assert found.name == tmp_path.name


def test_a_directory_that_does_not_exist_is_a_path(tmp_path: Path) -> None:
    assert Checkout.of(tmp_path / "missing").root == ""


def test_a_repository_is_known_from_everywhere_in_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "app", "git@github.com:Team/App.git")
    (root / "src" / "deep").mkdir(parents=True)
    found = Checkout.of(root / "src" / "deep")
    assert (found.root, found.common) == (str(root), str(root / ".git"))
    assert (found.remote, found.name) == ("github.com/Team/App", "app")


def test_a_worktree_shares_directory_remote_and_name(tmp_path: Path) -> None:
    root = repository(tmp_path / "app", "https://github.com/team/app")
    git(root, "worktree", "add", "-q", "../feature")
    main, linked = Checkout.of(root), Checkout.of(tmp_path / "feature")
    assert linked.root == str(tmp_path / "feature")
    assert (linked.common, linked.remote, linked.name) == (main.common, main.remote, main.name)


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    repository(tmp_path / "library")
    root = repository(tmp_path / "app")
    git(
        root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(tmp_path / "library"),
        "lib",
    )
    inner, outer = Checkout.of(root / "lib"), Checkout.of(root)
    assert inner.common not in {"", outer.common}
    assert (inner.root, inner.name) == (str(root / "lib"), "lib")


def test_a_bare_repository_is_its_own_common_directory(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "app.git")
    git(tmp_path / "app.git", "remote", "add", "origin", "ssh://git@example.com:22/team/app.git")
    found = Checkout.of(tmp_path / "app.git")
    assert (found.root, found.common) == ("", str(tmp_path / "app.git"))
    assert found.remote == "example.com/team/app"


def test_links_are_resolved(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    (tmp_path / "link").symlink_to(root)
    assert Checkout.of(tmp_path / "link") == Checkout.of(root)


def test_the_origin_is_the_remote_else_the_first(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    git(root, "remote", "add", "fork", "https://example.com/me/app")
    assert Checkout.of(root).remote == "example.com/me/app"
    git(root, "remote", "add", "origin", "https://example.com/team/app")
    assert Checkout.of(root).remote == "example.com/team/app"


@pytest.mark.parametrize(
    "said",
    ["", "gitdir:", "gitdir: /nowhere/at/all", "gitdir: ../../..\0", "\xff\xfe", "x" * 300_000],
)
def test_a_git_file_that_leads_nowhere_is_no_repository(tmp_path: Path, said: str) -> None:
    (tmp_path / ".git").write_bytes(said.encode("latin-1"))
    found = Checkout.of(tmp_path)
    assert (found.common, found.remote) == ("", "")


@pytest.mark.parametrize(
    "config",
    [
        b"",
        b"\0\xff",
        b"[remote",
        b'[remote "origin"]\n url =\n',
        b'[remote "origin"]\n url = /a/local/path\n',
        b"url = https://example.com/x\n[core]\n url = https://example.com/y\n",
    ],
)
def test_a_configuration_without_a_remote_has_none(tmp_path: Path, config: bytes) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_bytes(config)
    assert Checkout.of(tmp_path).remote == ""


def test_a_quoted_address_is_read(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    text = '[remote "origin"]\n\turl = "https://example.com/team/app.git"\n'
    (tmp_path / ".git" / "config").write_text(text)
    assert Checkout.of(tmp_path).remote == "example.com/team/app"


def test_a_name_that_is_no_text_is_shown_with_escapes(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff-app"))
    folder.mkdir()
    assert Checkout.of(folder).path == f"{tmp_path}/\\xff-app"


def test_a_link_that_leads_to_itself_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert Checkout.of(tmp_path / "loop" / "x").root == ""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=50))
@example("\ud800")
def test_any_path_is_answered(tmp_path: Path, text: str) -> None:
    assert Checkout.of(tmp_path / text.replace("/", "_")).path.encode()
    assert isinstance(normal_remote(text), str)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://github.com/Team/App.git", "github.com/Team/App"),
        ("https://github.com/Team/App/", "github.com/Team/App"),
        ("git@github.com:Team/App.git", "github.com/Team/App"),
        ("ssh://git@GitHub.com:22/Team/App.git", "github.com/Team/App"),
        ("https://user:secret@github.com/Team/App", "github.com/Team/App"),
        ("git://[::1]:9418/app.git", "[::1]/app"),
        ("/srv/git/app.git", ""),
        ("../app", ""),
        ("C:/src/app", ""),
        ("file:///srv/git/app", ""),
        ("https://github.com/", ""),
        ("", ""),
    ],
)
def test_a_remote_is_the_same_in_every_spelling(url: str, same: str) -> None:
    assert normal_remote(url) == same


@pytest.mark.parametrize("name", [".git", ".git/config"])
def test_a_pipe_among_the_files_of_git_is_not_waited_for(tmp_path: Path, name: str) -> None:
    pipe = tmp_path / name
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    ended = threading.Event()
    threading.Thread(target=lambda: (Checkout.of(tmp_path), ended.set()), daemon=True).start()
    assert ended.wait(5)
