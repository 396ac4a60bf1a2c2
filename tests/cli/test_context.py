"""`ghost context`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_cli.main import main
from ghost_memory import saving
from ghost_memory.saving import Note
from support.memory import memory_at


@pytest.fixture
def app(home: Path, tmp_path: Path) -> Path:
    """Return the directory of a project that remembers something."""
    with memory_at(home) as memory:
        memory.save("the gateway listens on port 8402", category="gotcha")
        memory.write(lambda w: saving.save(w, "_global", Note("answers are short")))
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["context", *words]) == 0
    return capsys.readouterr().out


def test_the_block_of_a_directory_is_printed(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "--cwd", str(app))
    assert out.startswith("## Ghost context: app\n")
    assert "«the gateway listens on port 8402»" in out
    assert printed(capsys, f"--cwd={app}") == out


def test_without_an_option_it_is_the_directory_one_is_in(
    app: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(app)
    assert "gateway" in printed(capsys)


def test_where_nothing_is_remembered_nothing_is_printed_or_made(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "--cwd", str(tmp_path)) == ""
    assert not home.exists()


@pytest.mark.parametrize(
    ("directory", "said"),
    [
        ("/" + "a" * 5000, "File name too long"),
        ("/" + "/".join(["b" * 200] * 30), "File name too long"),
        ("a\0b", "does not exist"),
        ("/dev/null", "'/dev/null': is a file, expected a directory"),
        ("nowhere", "directory 'nowhere': does not exist"),
    ],
    ids=["long", "deep", "nul", "file", "missing"],
)
def test_a_directory_that_is_none_has_nothing_to_tell(
    app: Path, capsys: pytest.CaptureFixture[str], directory: str, said: str
) -> None:
    assert main(["context", "--cwd", directory]) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err


def test_a_directory_that_is_gone_or_nobodys_is_an_error(
    app: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["context", "--cwd", "~nobody-has-this-name"]) == 4
    gone = app / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["context"]) == 4
    assert "the current directory: cannot be used" in capsys.readouterr().err


def test_a_database_that_cannot_be_looked_for_is_an_error(
    app: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHOST_DATABASE__URL", "sqlite:///" + "/" + "a" * 5000)
    assert main(["context", "--cwd", str(app)]) == 4
    assert "cannot be looked at, File name too long" in capsys.readouterr().err


def test_the_document_counts(app: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "--cwd", str(app), "--json"))
    assert (found["schema"], found["shown"], found["total"]) == ("ghost/context/v1", 2, 2)
    assert "gateway" in found["text"]


@pytest.mark.parametrize("words", [["here"], ["--cwd"], ["--cwd", "a", "b"], ["--all"]])
def test_other_words_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", *words]) == 2
    assert "expected --cwd DIR" in capsys.readouterr().err


def test_a_database_that_cannot_be_read_is_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "ghost.db").write_bytes(b"no database" * 100)
    assert main(["context"]) == 4
    assert "cannot be read" in capsys.readouterr().err


def test_the_database_is_the_configured_one(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with memory_at(tmp_path / "elsewhere") as memory:
        memory.save("zebra", "app")
    monkeypatch.setenv("GHOST_DATABASE__URL", f"sqlite:///{tmp_path}/elsewhere/ghost.db")
    (tmp_path / "app").mkdir()
    assert "zebra" in printed(capsys, "--cwd", str(tmp_path / "app"))


def test_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "--help").startswith("Usage: ghost context")


def test_nothing_heavy_is_loaded(app: Path) -> None:
    script = (
        "import sys, json; from ghost_cli.main import main;"
        f"main(['context', '--cwd', {str(app)!r}]); print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True, timeout=60
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    heavy = {"mcp", "mitmproxy", "numpy", "pydantic", "rich", "sqlalchemy", "sqlmodel", "typer"}
    assert heavy & loaded == set()
    assert "gateway" in done.stdout
