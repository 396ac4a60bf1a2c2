from __future__ import annotations

import pytest

from ghost_cli import commands
from ghost_cli.commands import COMMANDS, PANELS, Command, find, nearest, overview


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_help_line_is_short_starts_with_a_verb_and_has_no_full_stop(command: Command) -> None:
    assert len(command.help) <= 60
    assert command.help[0].isupper()
    assert not command.help.endswith(".")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_a_panel_a_module_of_ours_and_an_attribute(command: Command) -> None:
    assert command.panel in PANELS
    assert command.module.startswith("ghost_cli.")
    assert command.attribute.isidentifier()


def test_no_name_is_given_twice() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


@pytest.mark.parametrize(
    ("words", "name", "rest"),
    [
        (["bundle", "gh_1", "-o", "x"], "bundle", ["gh_1", "-o", "x"]),
        (["bundle", "unpack", "x"], "bundle unpack", ["x"]),
        (["version"], "version", []),
    ],
)
def test_the_longest_name_wins(words: list[str], name: str, rest: list[str]) -> None:
    command, found = find(words)
    assert command is not None
    assert (command.name, found) == (name, rest)


def test_what_is_not_in_the_table_is_not_found() -> None:
    assert find(["nothing", "x"]) == (None, ["nothing", "x"])
    assert nearest("versoin") == "version"
    assert nearest("zzz") is None


def test_a_command_whose_module_is_missing_is_not_in_the_overview(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    absent = Command("vanish", "ghost_cli.no_such_module:x", "Vanish", "Setup")
    monkeypatch.setattr(commands, "COMMANDS", (*COMMANDS, absent))
    assert not absent.present()
    assert "vanish" not in overview()
    assert "  version " in overview()


def test_a_panel_without_commands_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "COMMANDS", COMMANDS[-1:])
    assert "Session:" not in overview()
    assert "Setup:" in overview()
