from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated

import pytest
import typer

from ghost_cli import commands, output
from ghost_cli.commands import COMMANDS, Command
from ghost_cli.main import main
from ghost_core.errors import IntegrityError, UsageError
from ghost_core.version import __version__

seen: list[object] = []


def probe(
    words: Annotated[list[str] | None, typer.Argument()] = None,
    *,
    fail: Annotated[str, typer.Option()] = "",
    code: Annotated[int, typer.Option()] = 0,
) -> int:
    """Do what the test asks."""
    seen.append((words, output.options()))
    match fail:
        case "ghost":
            raise IntegrityError("entry 7: broken", hint="ghost verify")
        case "bug":
            hunter2 = {}
            return int(hunter2["hunter2"])
        case "interrupt":
            raise KeyboardInterrupt
        case "pipe":
            raise BrokenPipeError
        case "abort":
            raise typer.Abort
        case "exit":
            raise typer.Exit(8)
    return code


@pytest.fixture(autouse=True)
def _probe(monkeypatch: pytest.MonkeyPatch) -> None:
    seen.clear()
    monkeypatch.setitem(sys.modules, "ghost_cli.probe_for_tests", sys.modules[__name__])
    command = Command("probe", "ghost_cli.probe_for_tests:probe", "Probe", "Setup")
    monkeypatch.setattr(Command, "present", lambda self: self.name != "demo")
    monkeypatch.setattr(commands, "COMMANDS", (*COMMANDS, command))


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"]])
def test_without_a_command_there_is_help_and_all_is_well(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Usage: ghost COMMAND [OPTIONS]\n")
    assert "--json" in captured.out
    assert captured.err == ""


def test_the_version_is_an_option_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ghost {__version__}\n"


def test_the_arguments_of_the_process_are_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["ghost", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == f"ghost {__version__}\n"


@pytest.mark.parametrize(
    ("argv", "words", "options"),
    [
        (["probe", "a"], ["a"], (False, False, False)),
        (["--json", "probe", "a", "-q"], ["a"], (True, True, False)),
        (["probe", "-v", "a", "--quiet"], ["a"], (False, True, True)),
        (["probe", "--", "--json", "-q", "-v"], ["--json", "-q", "-v"], (False, False, False)),
    ],
)
def test_common_flags_stand_anywhere_before_two_dashes(
    argv: list[str], words: list[str], options: tuple[bool, bool, bool]
) -> None:
    assert main(argv) == 0
    assert seen == [(words, output.Options(*options))]


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["probe"], 0),
        (["probe", "--code", "7"], 7),
        (["probe", "--fail", "exit"], 8),
        (["probe", "--fail", "ghost"], 7),
        (["probe", "--fail", "interrupt"], 130),
        (["probe", "--fail", "abort"], 130),
        (["probe", "--fail", "bug"], 1),
        (["probe", "--nonsense"], 2),
        (["prob"], 2),
        (["demo"], 2),
    ],
)
def test_the_exit_code_says_what_happened(argv: list[str], code: int) -> None:
    assert main(argv) == code


def test_an_interrupt_before_the_command_runs_has_the_same_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["ghost_cli.main"], "_dispatch", interrupted)
    assert main(["probe"]) == 130


def test_an_error_of_ours_is_text_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    main(["probe", "--fail", "ghost"])
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "ghost: entry 7: broken\nhint: ghost verify\n")


@pytest.mark.parametrize(
    ("argv", "code", "exit_code"),
    [
        (["probe", "--fail", "ghost", "--json"], "integrity", 7),
        (["--json", "probe", "--nonsense"], "usage.arguments", 2),
        (["--json", "prob"], "usage.command", 2),
        (["--json", "probe", "--fail", "bug"], "unexpected", 1),
    ],
)
def test_every_failure_is_one_json_object_when_asked(
    argv: list[str], code: str, exit_code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == exit_code
    captured = capsys.readouterr()
    document = json.loads(captured.err)
    assert captured.out == ""
    assert set(document) == {"schema", "code", "message", "hint", "exit_code"}
    assert (document["code"], document["exit_code"]) == (code, exit_code)


def test_a_mistyped_command_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    main(["versionn"])
    assert capsys.readouterr().err == (
        "ghost: command 'versionn': does not exist, nearest is 'version'\nhint: ghost --help\n"
    )


def test_a_mistyped_flag_is_told_where_the_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    main(["probe", "--nonsense"])
    err = capsys.readouterr().err
    assert err == "ghost: no such option: --nonsense\nhint: ghost probe --help\n"


def test_a_mistake_of_ours_is_one_line_without_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["probe", "--fail", "bug"])
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("ghost: unexpected KeyError at test_main.py:")
    assert second == "hint: run it again with -v for the traceback"
    assert "hunter2" not in first


@pytest.mark.parametrize("words", [["--fail", "ghost"], ["--fail", "bug"], ["--nonsense"]])
def test_one_that_relays_a_childs_code_has_one_code_for_its_own_failures(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = Command("relay", "ghost_cli.probe_for_tests:probe", "Relay", "Setup", relays=True)
    monkeypatch.setattr(commands, "COMMANDS", (*COMMANDS, command))
    assert main(["--json", "relay", *words]) == 125
    assert json.loads(capsys.readouterr().err)["exit_code"] == 125
    assert main(["relay", "--code", "3"]) == 3


def test_the_traceback_comes_with_v_and_without_locals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["probe", "--fail", "bug", "-v"])
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert "hunter2 = {}\n" not in err.replace("            hunter2 = {}", "")


def test_an_error_that_was_never_raised_has_no_place() -> None:
    from ghost_cli.main import _place

    assert _place(ValueError()) == "an unknown place"


def test_the_help_of_a_command_names_the_common_flags(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["probe", "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Usage: ghost probe [OPTIONS]")
    assert "--quiet, -q  no notes on stderr" in out


def test_a_warning_of_the_settings_is_shown_as_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ghost_core import settings

    monkeypatch.setenv("GHOST_A_VARIABLE_OF_THIS_TEST", "1")
    monkeypatch.setattr(sys.modules[__name__], "probe", lambda: settings.load() and None)
    assert main(["probe"]) == 0
    assert capsys.readouterr().err == (
        "warning: variable GHOST_A_VARIABLE_OF_THIS_TEST: unknown, ignored\n"
    )


def test_a_reader_that_leaves_is_no_news() -> None:
    program = "import sys; from ghost_cli.main import main; sys.exit(main(['--help']))"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, b"")


def test_an_error_of_use_is_an_error_of_ours() -> None:
    assert UsageError.exit_code == 2
