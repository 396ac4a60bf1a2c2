from __future__ import annotations

import sys

import pytest
import typer

from ghost_cli import invoke
from ghost_cli.commands import COMMANDS, Command, find
from ghost_core.errors import UsageError

NAME = "ghost_cli.group_for_tests"
GROUP = Command("group", f"{NAME}:app", "Group", "Setup")
BROKEN = Command("broken", f"{NAME}:GROUP", "Broken", "Setup")

app = typer.Typer(help="A group.")


@app.command()
def one(number: int) -> int:
    """Return the number."""
    return number


@app.command()
def two() -> None:
    """Do nothing."""


@pytest.fixture(autouse=True)
def _module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, NAME, sys.modules[__name__])


def test_a_group_runs_its_command() -> None:
    assert invoke.run(GROUP, ["one", "6"]) == 6
    assert invoke.run(GROUP, ["two"]) == 0


def test_a_bare_group_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke.run(GROUP, []) == 0
    assert "Usage: ghost group [OPTIONS] COMMAND" in capsys.readouterr().out


def test_a_wrong_argument_is_a_usage_error_that_names_the_help() -> None:
    with pytest.raises(UsageError) as caught:
        invoke.run(GROUP, ["one", "x"])
    assert caught.value.code == "usage.arguments"
    assert caught.value.hint == "ghost group one --help"


def test_a_target_that_is_no_command_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="neither a function nor a Typer app"):
        invoke.run(BROKEN, [])


@pytest.mark.parametrize("name", [each.name for each in COMMANDS if each.target.endswith(":app")])
def test_no_summary_of_a_group_is_cut(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command, _ = find([name])
    assert command is not None
    invoke.run(command, ["--help"])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert len(lines) > 5
    assert not [line for line in lines if line.endswith("...") or len(line) > 80]
