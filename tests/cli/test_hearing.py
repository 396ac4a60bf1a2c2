"""Warnings of settings and ledger are shown as the command's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ghost_cli import output
from ghost_cli.hearing import hear
from ghost_cli.output import Options
from ghost_core import settings


@pytest.mark.parametrize(
    ("json", "said"),
    [(False, "warning: variable {}: unknown"), (True, '"message": "variable {}: unknown')],
)
def test_a_warning_is_heard_once(
    json: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"GHOST_UNHEARD_OF_{json}".upper()
    monkeypatch.setenv(name, "1")
    output.choose(Options(json=json))
    hear()
    hear()
    settings.load()
    assert capsys.readouterr().err.count(said.format(name)) == 1


@pytest.mark.parametrize("word", ["--version", "context"])
def test_who_reads_no_settings_loads_no_logging(word: str, tmp_path: Path) -> None:
    program = (
        f"import sys; from ghost_cli.main import main; main([{word!r}]);"
        " print([name for name in ('logging', 'dataclasses', 'inspect') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    environ = {"GHOST_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"
