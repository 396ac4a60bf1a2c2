from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from ghost_cli.config import _masked
from ghost_cli.main import main


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_init_writes_the_annotated_file_privately(home: Path) -> None:
    assert main(["config", "init"]) == 0
    written = home / "ghost.toml"
    assert written.read_bytes() == (files("ghost_core") / "ghost.toml").read_bytes()
    assert written.stat().st_mode & 0o777 == 0o600


def test_init_replaces_a_file_only_when_forced(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "ghost.toml").write_text("# mine", "utf-8")
    assert main(["config", "init"]) == 4
    assert "hint: change it as it is" in capsys.readouterr().err
    assert (home / "ghost.toml").read_text("utf-8") == "# mine"
    assert main(["config", "init", "--force"]) == 0
    assert (home / "ghost.toml").read_text("utf-8") != "# mine"


def test_show_names_the_origin_of_each_value(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "ghost.toml").write_text("[proxy]\nport = 1", "utf-8")
    monkeypatch.setenv("GHOST_PROXY__SCRUB", "mark")
    assert main(["config", "show", "--origin"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"proxy.port = 1  # {home}/ghost.toml" in lines
    assert 'proxy.scrub = "mark"  # environment' in lines
    assert "session.ttl_seconds = 300  # default" in lines


def test_show_prints_references_and_no_passwords(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "ghost.toml").write_text(
        '[proxy]\nupstream_proxy = "http://me:hunter2@proxy:1"\n'
        '[credentials.a]\nsecret = "env:A"\n',
        "utf-8",
    )
    assert main(["config", "show", "--json"]) == 0
    text = capsys.readouterr().out
    document = json.loads(text)
    assert document["schema"] == "ghost/config/v1"
    assert document["settings"]["credentials"]["a"]["secret"] == "env:A"
    assert document["settings"]["proxy"]["upstream_proxy"] == "http://…@proxy:1"
    assert "hunter2" not in text
    assert "origin" not in document


def test_only_passwords_are_hidden() -> None:
    value = {"a": ["https://me@x", "https://me:pw@x/y"], "b": 1}
    assert _masked(value) == {"a": ["https://me@x", "https://…@x/y"], "b": 1}


def test_the_schema_names_every_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "schema"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"database", "session", "proxy", "credentials", "tools"} <= set(document["properties"])


def test_a_broken_file_is_a_configuration_error(home: Path) -> None:
    home.mkdir()
    (home / "ghost.toml").write_text("[proxy]\nprot = 1", "utf-8")
    assert main(["config", "show"]) == 3
