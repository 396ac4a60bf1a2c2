from __future__ import annotations

import pytest

from ghost_cli import output
from ghost_cli.demo.narrator import Narrator
from ghost_core.errors import DeniedError, FailedError


def test_a_step_is_told_with_what_it_saw(capsys: pytest.CaptureFixture[str]) -> None:
    narrator = Narrator()
    narrator.step("ghost spawn", lambda: "gh_1 \x1b[31m")
    assert "✓ ghost spawn" in (told := capsys.readouterr().out)
    assert "gh_1 \\x1b[31m" in told
    assert narrator.steps[0].name == "ghost spawn"


def test_a_step_that_fails_ends_the_demo_with_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    def refused() -> str:
        raise DeniedError("not in scope", hint="ghost spawn")

    with pytest.raises(FailedError, match="'pay': not in scope") as caught:
        Narrator().step("pay", refused)
    assert (caught.value.exit_code, caught.value.hint) == (1, "ghost spawn")
    assert "✗ pay" in capsys.readouterr().out


def test_nothing_is_told_with_json(capsys: pytest.CaptureFixture[str]) -> None:
    output.choose(output.Options(json=True))
    try:
        Narrator().step("pay", lambda: "201")
    finally:
        output.choose(output.Options())
    assert capsys.readouterr().out == ""
