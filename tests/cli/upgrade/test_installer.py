"""How this program was installed, and what installs over it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ghost_cli.upgrade import installer
from ghost_cli.upgrade.installer import Installation
from ghost_core.errors import FailedError, UnavailableError
from ghost_core.version import __version__


def program(folder: Path, name: str, *, code: int = 0, says: str = "") -> Path:
    """Write a program that notes how it was called."""
    file = folder / name
    file.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" >> {folder}/called\nprintf '%s' '{says}'\nexit {code}\n"
    )
    file.chmod(0o755)
    return file


def test_this_very_installation_is_known() -> None:
    here = Installation.here()
    assert here.python == Path(sys.executable)
    assert here.version() == __version__


@pytest.mark.parametrize(
    ("receipt", "said", "way", "command"),
    [
        ("uv-receipt.toml", "uv", "uv tool", "uv pip install --python PYTHON w.whl"),
        ("pipx_metadata.json", "pip", "pipx", "pipx runpip ghost-ledger install --upgrade w.whl"),
        ("", "pip", "pip", "PYTHON -m pip install --upgrade w.whl"),
        ("", "uv", "uv", "uv pip install --python PYTHON w.whl"),
    ],
)
def test_what_installed_it_installs_over_it(
    tmp_path: Path, receipt: str, said: str, way: str, command: str
) -> None:
    if receipt:
        (tmp_path / receipt).touch()
    made = Installation(Path("PYTHON"), tmp_path, said)
    assert made.way == way
    assert made.command("w.whl") == command.split()


@pytest.mark.parametrize("said", ["", "conda", "x" * 100])
def test_another_installer_is_told(tmp_path: Path, said: str) -> None:
    with pytest.raises(UnavailableError, match="not by pip, pipx or uv"):
        _ = Installation(Path("python"), tmp_path, said).way


def test_the_installer_is_run_and_its_words_are_no_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    python = program(tmp_path, "python", says="Successfully installed")
    Installation(python, tmp_path, "pip").install(tmp_path / "w.whl")
    assert (tmp_path / "called").read_text().split() == [
        *("-m", "pip", "install", "--upgrade"),
        str(tmp_path / "w.whl"),
    ]
    out, err = capfd.readouterr()
    assert (out, err) == ("", "Successfully installed")


def test_an_installer_that_fails_or_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = program(tmp_path, "python", code=3)
    with pytest.raises(FailedError, match="ended with 3"):
        Installation(python, tmp_path, "pip").install(tmp_path / "w.whl")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="'uv', which installed this ghost, is not on PATH"):
        Installation(python, tmp_path, "uv").install(tmp_path / "w.whl")
    program(tmp_path, "uv")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    Installation(python, tmp_path, "uv").install(tmp_path / "w.whl")


@pytest.mark.parametrize("says", ["", "nonsense", "[]", '{"version"', "{}"])
def test_an_environment_that_does_not_answer_has_no_version(tmp_path: Path, says: str) -> None:
    assert Installation(program(tmp_path, "python", says=says), tmp_path, "pip").version() == ""
    assert Installation(tmp_path / "none", tmp_path, "pip").version() == ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, ("", False)),
        ("nonsense", ("", False)),
        ("[]", ("", False)),
        (json.dumps({"url": "file:///tmp/w.whl", "archive_info": {}}), ("", False)),
        (json.dumps({"url": "file:///src", "dir_info": {}}), ("file:///src", False)),
        (json.dumps({"url": "file:///src", "dir_info": {"editable": True}}), ("file:///src", True)),
        (
            json.dumps({"url": "https://host/r", "vcs_info": {"vcs": "git"}}),
            ("https://host/r", False),
        ),
    ],
)
def test_what_it_was_built_from_is_known(text: str | None, found: tuple[str, bool]) -> None:
    assert installer._source(text) == found
