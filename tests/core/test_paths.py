from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ghost_core import paths
from ghost_core.errors import UnavailableError
from ghost_core.paths import Home, expand, runtime_dir


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_home_is_the_named_one(home: Path) -> None:
    assert paths.home().root == home


def test_without_a_name_the_home_is_in_the_users_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GHOST_HOME")
    assert paths.home().root == Path.home() / ".ghost"


def test_everything_lies_in_the_home(home: Path) -> None:
    found = Home(home)
    names = ("config", "database", "hooks", "tools", "keys", "heads", "ca", "logs", "models")
    assert [getattr(found, name).name for name in names] == [
        "ghost.toml", "ghost.db", "hooks", "tools", "keys", "heads", "ca", "logs", "models",
    ]  # fmt: skip
    assert {getattr(found, name).parent for name in names} == {home}


def test_the_homes_folders_are_private(home: Path) -> None:
    Home(home).ensure().ensure()
    assert {mode(each) for each in (home, *home.iterdir())} == {0o700}


def test_a_home_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnavailableError) as caught:
        Home(tmp_path / "file").ensure()
    assert caught.value.code == "home.unwritable"


@pytest.mark.parametrize("text", ["$GHOST_HOME/x", "${GHOST_HOME}/x", "~/.ghost/x"])
def test_the_home_is_expanded_in_a_path(text: str) -> None:
    assert expand(text, base=Home(Path("/h"))) == Path("/h/x")


def test_other_paths_of_the_user_are_expanded_as_usual() -> None:
    assert expand("~/x") == Path.home() / "x"
    assert expand("~/.ghosts/x") == Path.home() / ".ghosts" / "x"
    assert expand("~/.ghost", base=Home(Path("/h"))) == Path("/h")
    assert expand("/a/b") == Path("/a/b")


def test_a_home_of_nobody_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.of_user("~/x") == Path.home() / "x"
    for look in (lambda: paths.of_user("~nobody-has-this-name"), paths.home):
        monkeypatch.setenv("GHOST_HOME", "~nobody-has-this-name/x")
        with pytest.raises(UnavailableError, match="nobody knows this home"):
            look()


def test_a_current_directory_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths.current() == tmp_path
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UnavailableError, match="cannot be used"):
        paths.current()


def test_the_runtime_folder_is_private() -> None:
    folder = runtime_dir()
    assert folder == Path(os.environ["XDG_RUNTIME_DIR"]) / "ghost_sessions"
    assert mode(folder) == 0o700


def test_a_runtime_folder_that_others_can_read_is_not_used() -> None:
    runtime_dir().chmod(0o755)
    with pytest.raises(UnavailableError) as caught:
        runtime_dir()
    assert caught.value.code == "runtime.foreign"


def test_a_link_in_the_place_of_the_runtime_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place = Path(os.environ["XDG_RUNTIME_DIR"]) / "ghost_sessions"
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnavailableError) as caught:
        runtime_dir()
    assert caught.value.code == "runtime.foreign"


def test_a_runtime_folder_that_cannot_be_made_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "file"))
    with pytest.raises(UnavailableError) as caught:
        runtime_dir()
    assert caught.value.code == "runtime.unwritable"


def test_without_a_runtime_folder_of_the_system_the_shared_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr(paths, "Path", lambda text: tmp_path / text.removeprefix("/tmp/"))
    assert runtime_dir() == tmp_path / "ghost_sessions"
    (tmp_path / "ghost_sessions").chmod(0o777)
    assert runtime_dir() == tmp_path / f"ghost_sessions-{os.getuid()}"


def test_the_place_of_the_runtime_folder_is_told_and_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paths.runtime_place() == Path(os.environ["XDG_RUNTIME_DIR"]) / "ghost_sessions"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr(paths, "Path", lambda text: tmp_path / text.removeprefix("/tmp/"))
    shared = tmp_path / "ghost_sessions"
    assert paths.runtime_place() == shared
    assert not shared.exists()
    assert paths.runtime_place() == runtime_dir() == shared
    shared.chmod(0o777)
    assert paths.runtime_place() == runtime_dir()
