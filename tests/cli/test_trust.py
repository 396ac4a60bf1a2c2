from __future__ import annotations

import json
from pathlib import Path

import pytest

from ghost_cli.main import main
from ghost_core.settings import load


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ghost.toml"
    path.write_text("[proxy]\nport = 1234\n", "utf-8")
    return path


def test_a_project_file_counts_once_it_is_trusted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load(warn=lambda _: None).proxy.port == 9999
    assert main(["trust"]) == 0
    assert capsys.readouterr().out.startswith(f"trusted {project} (sha256 ")
    assert load().proxy.port == 1234


def test_the_file_may_be_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trust", str(project), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["file"] == str(project)
    assert len(document["sha256"]) == 64


def test_a_file_that_does_not_exist_is_not_found(project: Path) -> None:
    assert main(["trust", "absent.toml"]) == 4
    project.unlink()
    assert main(["trust"]) == 4


def test_a_file_that_is_no_configuration_is_not_trusted(project: Path) -> None:
    project.write_text("=", "utf-8")
    assert main(["trust"]) == 3
