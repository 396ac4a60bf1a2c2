"""The MCP Inspector, the protocol's own tool, speaks to `ghost mcp` from its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ghost_memory.server.catalogue.tools import TOOLS
from support.home import GhostHome, ghost_home

FETCHED = Path(__file__).parents[2] / ".venv/inspector/node_modules/.bin/mcp-inspector"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[GhostHome]:
    if not FETCHED.exists():
        pytest.skip("the MCP Inspector is not here: scripts/fetch_inspector.sh")
    with ghost_home(tmp_path) as made:
        yield made


def inspect(place: GhostHome, method: str, *words: str) -> Any:
    """Ask for one thing and return the JSON that the Inspector prints."""
    done = subprocess.run(
        [
            str(FETCHED), "--cli", "-e", f"GHOST_HOME={place.root}",
            sys.executable, "-m", "ghost_cli", "mcp", "--method", method, *words,
        ],
        env=place.env,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_what_there_is(place: GhostHome) -> None:
    tools = inspect(place, "tools/list")["tools"]
    assert [each["name"] for each in tools] == list(TOOLS)
    templates = inspect(place, "resources/templates/list")["resourceTemplates"]
    assert len(templates) == 3
    assert len(inspect(place, "prompts/list")["prompts"]) == 2


def test_the_inspector_saves_and_finds(place: GhostHome) -> None:
    call = ("--tool-name", "ghost_memory_save", "--tool-arg", "project_id=app")
    saved = inspect(place, "tools/call", *call, "--tool-arg", "content=żółw 漢字")
    assert saved["isError"] is False
    call = ("--tool-name", "ghost_memory_search", "--tool-arg", "project_id=app")
    found = inspect(place, "tools/call", *call, "--tool-arg", "query=żółw")
    assert found["structuredContent"]["memories"][0]["content"] == "«żółw 漢字»"
    read = inspect(place, "resources/read", "--uri", "ghost://project/app/context")
    assert "«żółw 漢字»" in read["contents"][0]["text"]
