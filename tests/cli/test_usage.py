from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.main import get_command

from ghost_cli import invoke
from ghost_cli.commands import COMMANDS, Command
from ghost_core.errors import UsageError

WRONG = "abc!"
OF_LIBRARIES = ("Input should", "Value error", "invalid value", "Value must", "pattern", "pydantic")


def commands() -> Iterator[tuple[Command, list[str], Any]]:
    """Yield every command that Typer runs: its row of the table, the words after its name, itself."""
    for row in COMMANDS:
        if row.plain:
            continue
        target: Any = row.load()
        app = target if isinstance(target, typer.Typer) else invoke._single(row, target)
        found = get_command(app)
        below: dict[str, Any] = getattr(found, "commands", {})
        yield from ((row, [name], each) for name, each in below.items())
        if not below:
            yield row, [], found


def options() -> Iterator[tuple[Command, list[str]]]:
    """Yield a command line with a wrong value for each option that takes one and is no text."""
    for row, words, command in commands():
        for param in command.params:
            if param.param_type_name == "option" and not getattr(param, "is_flag", False):
                with command.make_context(row.name, [], resilient_parsing=True) as context:
                    try:
                        param.process_value(context, [WRONG] if param.multiple else WRONG)
                    except typer.BadParameter:
                        yield row, [*words, param.opts[0], WRONG]


def said(row: Command, words: list[str]) -> UsageError:
    with pytest.raises(UsageError) as caught:
        invoke.run(row, words)
    return caught.value


def of(name: str) -> Command:
    return next(each for each in COMMANDS if each.name == name)


def test_no_option_of_any_command_speaks_the_words_of_a_library() -> None:
    lines = list(options())
    assert len(lines) > 8
    for row, words in lines:
        error = said(row, words)
        assert error.message.startswith("--"), (row.name, words)
        assert ": expected " in error.message
        assert error.message.endswith(f", found '{WRONG}'")
        assert not [each for each in OF_LIBRARIES if each in error.message]


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("spawn", ["--ttl", "abc"], "--ttl: expected a whole number of seconds, found 'abc'"),
        ("replay", ["--format", "pdf"], "--format: expected json, csv or html, found 'pdf'"),
        ("memory", ["list", "--limit", "0"], "--limit: expected 1 or more, found '0'"),
        ("memory", ["list", "--limit", "999"], "--limit: expected 100 or less, found '999'"),
        ("memory", ["list", "--limit", ""], "--limit: expected a whole number, found ''"),
        ("memory", ["list", "--limit", "9" * 5000], "--limit: expected a whole number"),
        ("memory", ["save", "--importance", "nan", "x"], "--importance: expected "),
    ],
    ids=["unit", "choice", "low", "high", "empty", "long", "nan"],
)
def test_a_wrong_value_is_told_with_what_was_expected(
    name: str, words: list[str], message: str
) -> None:
    found = said(of(name), words).message
    assert found.startswith(message)
    assert len(found) < 200


@pytest.mark.parametrize(
    ("name", "words", "hint"),
    [
        ("memory", ["save"], "ghost memory save --help"),
        ("memory", ["list", "--limit", "x"], "ghost memory list --help"),
        ("memory", ["list", "--nonsense"], "ghost memory list --help"),
        ("memory", ["nonsense"], "ghost memory --help"),
        ("credential", ["add"], "ghost credential add --help"),
        ("bundle unpack", [], "ghost bundle unpack --help"),
        ("spawn", [], "ghost spawn --help"),
    ],
)
def test_the_hint_names_the_command_that_was_meant(name: str, words: list[str], hint: str) -> None:
    assert said(of(name), words).hint == hint


@pytest.mark.parametrize(
    "words", [["python3", "-c", "1"], ["--scpe", "x", "--", "true"], ["--scope", "x"], ["--"]]
)
def test_a_command_to_run_that_is_not_set_apart_is_answered_with_the_form(words: list[str]) -> None:
    hint = said(of("run"), words).hint or ""
    assert hint.endswith("ghost run --scope TOOL -- COMMAND")


@pytest.mark.parametrize("name", ["replay", "residue"])
def test_a_session_without_its_option_is_answered_with_the_option(name: str) -> None:
    assert said(of(name), ["gh_" + "a" * 32]).hint == f"ghost {name} --session-id ID"
    assert said(of(name), ["other"]).hint == f"ghost {name} --help"
