from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ghost_cli.doctor import program


def script(folder: Path, text: str) -> dict[str, str]:
    folder.mkdir()
    path = folder / "ghost"
    path.write_text(text)
    path.chmod(0o755)
    return {"PATH": str(folder)}


def test_another_program_of_that_name_is_named_and_not_started(tmp_path: Path) -> None:
    environ = script(tmp_path / "npm", f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (found,) = program.on_path(environ)
    assert (found.status, "is another program" in found.found) == ("warn", True)
    assert f"{Path(sys.executable).parent}:$PATH" in found.mend
    assert not (tmp_path / "started").exists()


def test_another_installation_of_ours_is_named(tmp_path: Path) -> None:
    (found,) = program.on_path(script(tmp_path / "bin", "from ghost_cli.main import main\n"))
    assert (found.status, "another installation" in found.found) == ("warn", True)


def test_none_at_all_is_told() -> None:
    (found,) = program.on_path({"PATH": "/nowhere"})
    assert "no 'ghost' is on PATH" in found.found


def test_the_one_beside_our_interpreter_is_fine() -> None:
    (found,) = program.on_path({"PATH": str(Path(sys.executable).parent)})
    assert found.status == "ok"


def test_this_installation_is_whole() -> None:
    (found,) = program.installation()
    assert found.status == "ok"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_required", lambda: ["sqlalchemy", "no-such-package"])
    (found,) = program.installation()
    assert (found.status, "no-such-package" in found.found) == ("fail", True)
    assert "sqlalchemy" not in found.found
