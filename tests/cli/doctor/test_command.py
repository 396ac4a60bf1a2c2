from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ghost_cli.doctor import clients
from ghost_cli.doctor.check import ok
from ghost_cli.main import main
from ghost_core.paths import runtime_place
from support.processes import free_port

SECONDS = 100


@pytest.fixture(autouse=True)
def _port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GHOST_PROXY__PORT", str(free_port()))


@pytest.fixture
def without_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "examine", lambda _: [ok("request", "left out")])


@pytest.mark.slow
@pytest.mark.proxy
def test_on_a_fresh_machine_everything_is_looked_at_and_nothing_is_made(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ghost_cli", "doctor", "--json"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    document = json.loads(done.stdout)
    assert document["schema"] == "ghost/doctor/v1"
    failed = [each for each in document["checks"] if each["status"] == "fail"]
    assert (done.returncode, failed) == (0, [])
    names = {each["name"] for each in document["checks"]}
    looked = {"program", "configuration", "home", "runtime", "port", "certificate", "clock"}
    assert looked | {"memory", "python3", "evidence"} <= names
    assert not home.exists()
    assert not runtime_place().exists()


@pytest.mark.usefixtures("without_clients")
def test_with_a_broken_configuration_the_rest_is_looked_at_all_the_same(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir(mode=0o700)
    (home / "ghost.toml").write_text("[proxy\n")
    (home / "ghost.toml").chmod(0o600)
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    (failed,) = [line for line in lines if line.startswith("fail")]
    assert failed.split()[:2] == ["fail", "configuration"]
    assert any(line.split()[:2] == ["ok", "home"] for line in lines)
    assert any(line.split()[:2] == ["ok", "port"] for line in lines)


@pytest.mark.usefixtures("without_clients")
def test_warnings_alone_end_with_0_and_no_colour(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", "/tmp/keys")
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "warn  SSLKEYLOGFILE" in out
    assert "\x1b" not in out


def test_help_is_told_and_an_argument_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--help"]) == 0
    assert "Usage: ghost doctor" in capsys.readouterr().out
    assert main(["doctor", "everything"]) == 2


def test_it_starts_without_typer() -> None:
    """A broken installation is what it is for."""
    script = (
        "import sys\nsys.modules['typer'] = None\nfrom ghost_cli.main import main\n"
        "from ghost_cli.doctor import command\ncommand._clients = lambda _: []\n"
        "assert main(['doctor', '--json']) == 0"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == "ghost/doctor/v1"
