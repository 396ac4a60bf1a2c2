from __future__ import annotations

from pathlib import Path

import pytest

from ghost_core.errors import UsageError
from ghost_memory import binding, passive, projects, whereabouts
from ghost_memory.values import Project
from support.memory import Store


def of(memory: Store, directory: Path) -> Project | None:
    return memory.read(lambda c: whereabouts.of_directory(passive.asking(c), directory))


def repository(folder: Path, remote: str = "") -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    if remote:
        (git / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
    return folder


def bound(memory: Store, name: str, folder: Path) -> None:
    memory.write(lambda w: binding.bind(w, name, folder))


def test_the_deepest_bound_directory_wins(memory: Store, tmp_path: Path) -> None:
    outer, inner = tmp_path / "checkout-of-all", tmp_path / "checkout-of-all" / "inner-part"
    inner.mkdir(parents=True)
    bound(memory, "inner", inner)
    bound(memory, "outer", outer)
    found = of(memory, inner)
    assert found is not None
    assert found.id == "inner"
    assert of(memory, tmp_path / "checkout-of-all-else") is None


def test_another_checkout_of_the_same_remote_is_the_same_project(
    memory: Store, tmp_path: Path
) -> None:
    bound(memory, "app", repository(tmp_path / "first-checkout", "git@host.example:team/app.git"))
    second = repository(tmp_path / "second", "https://host.example/team/app")
    found = of(memory, second / "src")
    assert found is not None
    assert found.id == "app"


def test_a_folder_is_found_by_its_name_only_while_the_project_has_no_place(
    memory: Store, tmp_path: Path
) -> None:
    memory.save("zebra", "somewhere")
    found = of(memory, tmp_path / "somewhere")
    assert found is not None
    assert found.id == "somewhere"
    bound(memory, "somewhere", repository(tmp_path / "a-checkout-elsewhere"))
    assert of(memory, tmp_path / "somewhere") is None


def test_a_name_that_several_have_is_reported() -> None:
    both = [Project("a", "app", "a", None), Project("b", "app", "b", None)]
    with pytest.raises(UsageError, match="a, b"):
        whereabouts.only(both, "app")


def test_the_home_folder_is_no_project(
    memory: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.save("zebra", "user")
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    assert of(memory, home) is None


def test_a_hook_and_the_server_see_the_same_project(memory: Store, tmp_path: Path) -> None:
    memory.save("zebra", "somewhere")
    folder = tmp_path / "somewhere"
    assert memory.read(lambda c: projects.of_directory(c, folder)) == of(memory, folder)
