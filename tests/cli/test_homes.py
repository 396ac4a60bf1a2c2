from __future__ import annotations

from pathlib import Path

import pytest

from ghost_cli import homes
from ghost_cli.commands import COMMANDS
from ghost_cli.main import main
from ghost_core.errors import UnavailableError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file in the place of the home."""
    found = tmp_path / "a-file"
    found.write_text("what it holds")
    monkeypatch.setenv("GHOST_HOME", str(found))
    return found


@pytest.mark.parametrize(
    "words",
    [
        "session list", "session show gh_1", "memory list", "memory search x", "memory export",
        "project list", "context", "replay --all", "config show", "credential list", "mcp --http",
        "possess --stop",
    ],
)  # fmt: skip
def test_a_file_is_no_home_that_has_nothing(
    words: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"home {str(file)!r}: is a file, expected a directory" in captured.err


@pytest.mark.parametrize("words", ["version", "memory --help", "context --help", "--help"])
def test_what_needs_no_home_asks_for_none(words: str, file: Path) -> None:
    assert main(words.split()) == 0


def test_the_doctor_may_look_at_any_home() -> None:
    assert {each.name for each in COMMANDS if each.outside} >= {"doctor", "version", "verify"}


def test_what_can_never_be_a_home_is_told_from_what_is_none_yet(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path, said in [
        (file / "below", "cannot be used, Not a directory"),
        (tmp_path / "link", "is a link that leads nowhere"),
        (tmp_path / ("a" * 300), "cannot be used, File name too long"),
    ]:
        monkeypatch.setenv("GHOST_HOME", str(path))
        with pytest.raises(UnavailableError, match=said):
            homes.require()
    monkeypatch.setenv("GHOST_HOME", str(tmp_path / "not" / "yet"))
    homes.require()
