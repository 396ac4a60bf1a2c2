"""The pages are true: what they run works, what they name exists, what is generated is fresh.

A fenced block that begins with `sh run` is executed; all of a page form one script, in a scratch home.
The services of the pages are one upstream on loopback, so their names and the port are replaced.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from ghost_cli.commands import find
from support.certs import Certs, make_certs
from support.exchange import Exchange
from support.forked import on_path
from support.gitserver import serve
from support.processes import free_port
from support.routes import JSON
from support.upstream import Upstream

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = ("api.openai.com", "api.example.com", "github.com")
SECRET = "sk-only-in-this-test-3141592653589"
BASIC = b"Basic " + base64.b64encode(f"git:{SECRET}".encode())
SECONDS = 200  # for all commands of a page
STOP_SECONDS = 60
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What each page says that the reader will see.
PROMISED = {
    "README.md": "I hold ghost_openai_placeholder\n",
    "docs/how-to/credentials.md": "same_in_a_file: the secret from file:~/payments.secret can be used",
    "docs/how-to/events.md": '"type":"action.executed"',
    "docs/how-to/evidence.md": "Incomplete. Nothing is broken, but the evidence does not suffice.",
    "docs/how-to/git.md": "sealed: ghost replay",
    "docs/how-to/hooks.md": "more than 5000 needs a human",
    "docs/how-to/keys.md": "has a new key, the old one is wiped",
    "docs/how-to/memory.md": "would have deleted billing: 1 memory",
    "docs/how-to/node.md": "Bearer [redacted by ghost]",
    "docs/how-to/python.md": "200\n403 DELETE on this path",
    "docs/how-to/server.md": "Proxy stopped on port",
    "docs/how-to/tools-and-scopes.md": "a rule refuses this call",
    "docs/quickstart.md": "Bearer [redacted by ghost]",
}
CALLS_NOBODY = {
    "docs/how-to/keys.md",
    "docs/how-to/memory.md",
}  # all other pages make a call with the credential
COMMAND = re.compile(r"(?:^|[(|]|&& )\s*ghost ((?:[a-z]+)(?: [a-z]+)?)", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
LINK = re.compile(r"(?:\]\(|src(?:set)?=\")([^)#:\s\"]+)(?:#[^)\s]*)?[)\"]")


def blocks(page: Path, info: str) -> list[str]:
    """Return the fenced blocks of a page whose info string is this one."""
    return [text for found, text in FENCE.findall(page.read_text("utf-8")) if found == info]


def title(page: Path) -> str:
    return str(page.relative_to(ROOT))


RUNNABLE = [page for page in PAGES if blocks(page, "sh run")]


@dataclass(frozen=True, slots=True)
class Scratch:
    """A user with an empty home and a shell whose `ghost` is this one."""

    folder: Path
    runtime: Path
    up: Upstream
    ca: Path
    port: int

    def environment(self) -> dict[str, str]:
        own = (str(self.runtime), str(Path(sys.executable).parent))
        programs = (*own, os.environ.get("PATH", os.defpath))
        return {
            "PATH": os.pathsep.join(programs),
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "OPENAI_API_KEY": SECRET,
            "GHOST_PROXY__PORT": str(self.port),
            "GHOST_PROXY__UPSTREAM_CA": str(self.ca),
            "GHOST_PROXY__ALLOW_PRIVATE": json.dumps([self.up.authority]),
        }

    def replaced(self, text: str) -> str:
        for name in NAMES:
            text = text.replace(name, self.up.authority)
        return text.replace("9999", str(self.port)).replace("a-secret-of-yours", SECRET)

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script to its end, or kill it and everything it started."""
        process = subprocess.Popen(
            ["sh", "-euc", self.replaced(script)],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            out, _ = process.communicate(timeout=SECONDS)
        finally:
            self.end(process)
        return subprocess.CompletedProcess(process.args, process.returncode, out)

    def end(self, process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(STOP_SECONDS)
        for note in self.runtime.rglob("possess-*.json"):
            words = ["possess", "--stop", "--port", str(json.loads(note.read_text())["port"])]
            subprocess.run(
                [sys.executable, "-m", "ghost_cli", *words],
                env=self.environment(),
                capture_output=True,
                check=False,
                timeout=STOP_SECONDS,
            )


def answer(exchange: Exchange) -> None:
    """Answer as a model and as a payment service do, and say the key aloud."""
    key = (exchange.record.header("authorization") or b"").decode()
    said = {"id": "pay_1", "choices": [{"message": {"content": "hello"}}], "you_sent": key}
    exchange.reply(200, json.dumps(said).encode(), [JSON])


@contextmanager
def scratch(folder: Path) -> Iterator[Scratch]:
    """Make a user and a service in a folder."""
    certs: Certs = make_certs(folder / "certs")
    user = folder / "user"
    user.mkdir()
    # A socket path has room for about 100 characters.
    runtime = Path(tempfile.mkdtemp(prefix="gd"))
    with Upstream(certs) as up, on_path(runtime):
        for path in ("/v1/chat/completions", "/v1/payments", "/v1/balance"):
            up.route(path, answer)
        yield Scratch(user, runtime, up, certs.ca, free_port())
    shutil.rmtree(runtime, ignore_errors=True)


def missing(page: Path) -> str:
    """Return the program that a page needs and that is not here."""
    script = "\n".join(blocks(page, "sh run"))
    named = [name for name in ("curl", "git", "node") if re.search(rf"\b{name} ", script)]
    return next((name for name in named if shutil.which(name) is None), "")


@dataclass(frozen=True, slots=True)
class Played:
    """What the script of a page came to, and what its service was told."""

    code: int
    out: str
    authorizations: frozenset[bytes]


def play(page: Path, folder: Path) -> Played:
    """Run all blocks of a page as one script."""
    script = "\n".join(blocks(page, "sh run"))
    with scratch(folder) as place:
        if "github.com" in script:
            serve(place.up, folder, "example/project", user="git", password=SECRET)
        done = place.run(script)
        told = {value for each in place.up.requests for value in each.all("authorization")}
    return Played(done.returncode, done.stdout, frozenset(told))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Path, Future[Played]]]:
    """Play the pages, two at a time: they mostly wait for programs to start."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            page: pool.submit(play, page, tmp_path_factory.mktemp("page"))
            for page in RUNNABLE
            if not missing(page)
        }


@pytest.mark.slow
@pytest.mark.proxy
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", RUNNABLE, ids=title)
def test_what_a_page_runs_works_and_never_shows_the_key(
    page: Path, played: dict[Path, Future[Played]]
) -> None:
    if missing(page):
        pytest.skip(f"{missing(page)} is not installed")
    found = played[page].result(250)
    assert found.code == 0, found.out
    assert SECRET not in found.out
    assert PROMISED[title(page)] in found.out
    # the service has to see the key
    assert title(page) in CALLS_NOBODY or found.authorizations & {
        f"Bearer {SECRET}".encode(),
        BASIC,
    }


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_every_command_on_a_page_exists(page: Path) -> None:
    texts = [text for info, text in FENCE.findall(page.read_text("utf-8")) if info[:2] == "sh"]
    named = [words for text in texts for words in COMMAND.findall(text)]
    assert [words for words in named if find(words.split())[0] is None] == []


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_every_link_on_a_page_leads_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text("utf-8"))
    assert [link for link in LINK.findall(text) if not (page.parent / link).exists()] == []


def test_every_test_that_a_page_names_exists() -> None:
    text = (ROOT / "docs/threat-model.md").read_text("utf-8")
    named = TEST.findall(text)
    assert len(named) > 30
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), (path, name)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_the_pictures_are_small() -> None:
    assert [
        each for each in (ROOT / "docs/images").iterdir() if each.stat().st_size > 300_000
    ] == []


def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise: python scripts/reference.py."""
    monkeypatch.setenv("COLUMNS", "80")
    stale = [
        name
        for name, text in reference().pages()
        if (ROOT / "docs/reference" / name).read_text("utf-8") != text
    ]
    assert stale == []


def test_the_pages_agree_on_settings_that_have_no_effect() -> None:
    row = re.search(
        r"^\| (.+?) \| no effect", (ROOT / "docs/limits.md").read_text("utf-8"), re.MULTILINE
    )
    said = re.search(
        r"The settings of (.+?) belong to parts that",
        (ROOT / "docs/reference/settings.md").read_text("utf-8"),
        re.DOTALL,
    )
    assert row is not None
    assert said is not None
    named = {each.strip("[]") for each in re.findall(r"`([^`]+)`", row[1])}
    assert set(re.findall(r"`([^`]+)`", said[1])) == named
