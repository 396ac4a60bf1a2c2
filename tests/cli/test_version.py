from __future__ import annotations

import json

import pytest

from ghost_cli.main import main
from ghost_core.version import __version__


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"ghost {__version__}\n"
    assert main(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["version"] == __version__
