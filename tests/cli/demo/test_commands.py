from __future__ import annotations

import os
import sys

import pytest

from ghost_cli.demo import commands
from ghost_core.errors import FailedError


def environment() -> dict[str, str]:
    return dict(os.environ)


def test_a_command_with_the_expected_code_is_returned() -> None:
    done = commands.ghost(environment(), "version", "--json")
    assert "version" in done.json()


def test_another_code_is_an_error_with_what_it_said() -> None:
    with pytest.raises(FailedError, match="expected exit 0, found 2, it said 'ghost: ") as caught:
        commands.ghost(environment(), "spawn", "--nothing")
    assert caught.value.code == "demo.exit"


@pytest.mark.parametrize(("text", "found"), [("", "JSON on stdout"), ("[1]", "JSON object")])
def test_an_output_that_is_no_object_is_an_error(text: str, found: str) -> None:
    with pytest.raises(FailedError, match=found):
        commands.Done(0, text, "").json()


def test_a_program_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_COMMAND_SECONDS", 0.2)
    with pytest.raises(FailedError) as caught:
        commands.run([sys.executable, "-c", "import time; time.sleep(30)"], environment())
    assert caught.value.code == "demo.timeout"


def test_a_proxy_that_cannot_start_says_why() -> None:
    with (
        pytest.raises(FailedError, match="not ready") as caught,
        commands.possess(environment(), "--port", "70000"),
    ):
        pass
    assert caught.value.code == "demo.possess"
