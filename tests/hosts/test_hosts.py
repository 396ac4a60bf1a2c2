"""Claude Code, codex and opencode, unchanged: registered as the how-to says, they call memory for real.

Their model is a server of ours that has them call one tool. Run by `make test-hosts`, never by `make test`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ghost_memory.server.catalogue.tools import TOOLS
from support.model import DONE, Model, model_server

ROOT = Path(__file__).parents[2]
FETCHED = ROOT / ".venv/hosts"
NODE = ROOT / ".venv/node/bin"
HOW_TO = (ROOT / "docs/how-to/memory-server.md").read_text("utf-8")
GHOST = Path(sys.executable).parent / "ghost"
SECONDS = 240
SAID = "the staging database is on port 5433"

pytestmark = pytest.mark.timeout(3 * SECONDS)


@dataclass(frozen=True, slots=True)
class Host:
    """One host: where its program lies, what its list says of us, how it is asked with our model."""

    package: str
    program: str
    listed: str
    ask: Callable[[Model], list[str]]
    settings: Callable[[Model], Mapping[str, str]]

    def program_in(self, place: Path) -> Path | None:
        """Return the program of this machine; packages for others may lie beside it."""
        return next(iter(sorted(place.glob(f"{self.package}/node_modules/{self.program}"))), None)


def codex(model: Model) -> list[str]:
    provider = f'{{name="ours",base_url="{model.url}/v1",env_key="OURS",wire_api="responses"}}'
    settings = {
        "model": '"ours"',
        "model_provider": '"ours"',
        "model_providers.ours": provider,
        "mcp_servers.ghost.required": "true",  # else the first turn does not wait for it
    }
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", *words]


def claude(_model: Model) -> list[str]:
    return ["--allowedTools", "mcp__ghost", "--model", "claude-sonnet-4-5", "-p"]


def opencode(model: Model) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": "none"},
        "models": {"ours": {"name": "ours"}},
    }
    chosen = {"provider": {"ours": provider}, "model": "ours/ours", "small_model": "ours/ours"}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(chosen)}


HOSTS = {
    "claude": Host(
        "@anthropic-ai/claude-code",
        "@anthropic-ai/claude-code-*/claude",
        r"ghost: \S+ghost mcp - \S+ Connected",
        claude,
        lambda model: {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "MCP_CONNECTION_NONBLOCKING": "0",
            "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    "codex": Host(
        "@openai/codex",
        "@openai/codex-*/vendor/*/bin/codex",
        r"ghost +\S+ghost +mcp .*enabled",
        codex,
        lambda _model: {"OURS": "none"},
    ),
    "opencode": Host(
        "opencode-ai",
        "opencode-*/bin/opencode",
        r"✓ ghost.*connected",
        lambda _model: ["run", "--model", "ours/ours"],
        opencode,
    ),
}


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a home of their own, who works in a repository and has one host."""

    home: Path
    name: str
    program: Path

    def run(self, command: list[str], **more: str) -> str:
        """Run a program in the repository and return what it says."""
        path = f"{self.home / 'bin'}:{NODE}:{os.environ['PATH']}"
        done = subprocess.run(
            command,
            cwd=self.home / "shop",
            env={"HOME": str(self.home), "PATH": path, "LC_ALL": "C.UTF-8", **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)

    def ask(self, tool: str, **arguments: object) -> Model:
        """Have the host call a tool; return what its model saw."""
        host = HOSTS[self.name]
        with model_server(tool, arguments) as model:
            said = self.run(
                [str(self.program), *host.ask(model), "do as you know"], **host.settings(model)
            )
        assert DONE in said
        return model


def register(user: User) -> None:
    """Do what the how-to says for this host."""
    if user.name == "opencode":
        found = re.search(r'^\{"mcp": .*\}$', HOW_TO, re.MULTILINE)
        assert found
        text = found.group().replace("/home/me/.local/bin/ghost", str(user.home / "bin/ghost"))
        (user.home / "shop/opencode.json").write_text(text, "utf-8")
    else:
        found = re.search(rf"^{user.name} mcp add .*$", HOW_TO, re.MULTILINE)
        assert found
        user.run(["sh", "-c", found.group()])


@pytest.fixture(params=HOSTS)
def user(request: pytest.FixtureRequest, tmp_path: Path) -> User:
    program = HOSTS[request.param].program_in(FETCHED)
    if program is None:
        pytest.skip(f"{request.param} is not here: scripts/fetch_hosts.sh")
    for name in ("bin", "shop"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin/ghost").symlink_to(GHOST)
    (tmp_path / "bin" / request.param).symlink_to(program)
    made = User(tmp_path, request.param, program)
    made.run(["git", "init", "-q"])
    register(made)
    return made


def test_a_host_lists_the_server_and_offers_its_tools(user: User) -> None:
    host = HOSTS[user.name]
    assert re.search(host.listed, user.run([str(user.program), "mcp", "list"]))


def test_what_a_host_saves_it_finds_in_its_next_session_and_so_does_the_command(user: User) -> None:
    saved = user.ask("ghost_memory_save", project_id="shop", content=SAID)
    assert {name for name in TOOLS if any(each.endswith(name) for each in saved.offered)} == {
        *TOOLS
    }
    found = user.ask("ghost_memory_search", project_id="shop", query="which port has staging?")
    assert any(f"«{SAID}»" in each for each in found.results)
    assert SAID in user.run(["ghost", "memory", "search", "staging port"])
    audit = json.loads(user.run(["ghost", "memory", "search", "staging port", "--json"]))
    assert user.name in audit["hits"][0]["memory"]["agent"]
