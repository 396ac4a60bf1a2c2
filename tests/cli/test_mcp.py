from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ghost_cli import mcp
from ghost_cli.main import main
from support import ledger
from support.home import ghost_home
from support.mcp import raw_server
from support.processes import ghost


def test_help_needs_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Usage: ghost mcp [--http] [--port PORT]" in out
    assert "claude mcp add" in out
    assert "--json" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serve"], "takes no argument 'serve'"),
        (["--port", "80"], "--port needs --http"),
        (["--http", "--port"], "--port: expected a value"),
        (["--http", "--port", "x"], "expected 0 to 65535"),
        (["--http", "--port=65536"], "expected 0 to 65535"),
        (["--http", "--port", "-1"], "expected 0 to 65535"),
    ],
)
def test_wrong_words_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *words]) == 2
    assert said in capsys.readouterr().err


def test_words_are_read() -> None:
    assert mcp._port([]) is None
    assert mcp._port(["--http"]) == mcp.PORT
    assert mcp._port(["--port", "0", "--http"]) == 0
    assert mcp._port(["--http", "--port=8080"]) == 8080


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("given", ["gh_" + "ab" * 16, "gh_nonsense", ""])
def test_a_change_is_entered_for_the_session_the_server_runs_in(tmp_path: Path, given: str) -> None:
    with ghost_home(tmp_path) as home:
        with raw_server(home, env={"GHOST_SESSION_ID": given} if given else {}) as server:
            server.handshake()
            server.call("ghost_memory_save", project_id="app", content="x")
        query = "SELECT body FROM entries WHERE type = 'memory.changed'"
        entries: list[Any] = [json.loads(body) for body in ledger.rows(home.root, query)]
    assert {each["host"] for each in entries} == {"raw/1"}
    assert {each.get("session", "") for each in entries} == {given if len(given) == 35 else ""}


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_what_was_saved_is_found_by_its_meaning(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home, raw_server(home) as server:
        server.handshake()
        text = "Log in to postgres with the password in the vault."
        server.call("ghost_memory_save", project_id="app", content=text)
        until = time.monotonic() + 60
        while server.call("ghost_health")["structuredContent"]["embedding"]["pending"]:
            assert time.monotonic() < until
        query = "database credentials"
        found = server.call("ghost_memory_search", project_id="app", query=query)
        code, seconds, errors = server.leave()
    assert found["structuredContent"]["memories"][0]["content"] == f"«{text}»"
    assert (code, errors) == (0, "")
    assert seconds < 2


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_broken_configuration_is_an_answer_that_the_agent_sees(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        home.append("[memory.search]\nfusion = 'best'")
        with raw_server(home) as server:
            server.handshake()
            failed = server.call("ghost_health")
    assert failed["isError"]
    assert "memory.search.fusion" in failed["content"][0]["text"]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_terminal_is_told_who_usually_starts_this(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        ours, theirs = os.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "ghost_cli", "mcp"],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=home.env,
        ) as process:
            os.close(theirs)
            assert process.stderr is not None
            said = process.stderr.readline()
            process.terminate()
            process.communicate(timeout=60)
        os.close(ours)
    assert b"a host starts this by itself" in said


def test_nothing_of_the_server_is_loaded_to_show_its_help(tmp_path: Path) -> None:
    with ghost_home(tmp_path) as home:
        done = ghost(home, "mcp", "--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip() for line in done.err.splitlines()}
    assert not {"mcp.server", "sqlalchemy", "typer", "pydantic"} & loaded
