"""git over https: clone and push against git's own server program, which demands Basic auth."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.agent import program, run_client
from support.certs import Certs
from support.gitserver import serve
from support.home import SECRET, GhostHome, ghost_home
from support.processes import possess
from support.shell import Session, block, entries, eventually, inside, spawn, stored
from support.upstream import Upstream

pytestmark = pytest.mark.proxy

INJECTED = b"Basic " + base64.b64encode(f"git:{SECRET}".encode())
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Git:
    """A work folder under a session's environment."""

    home: GhostHome
    session: Session
    env: dict[str, str]
    folder: Path

    def run(self, *words: str, ok: bool = True) -> subprocess.CompletedProcess[bytes]:
        identity = {
            f"GIT_{role}_{name}": value
            for role in ("AUTHOR", "COMMITTER")
            for name, value in (("NAME", "Agent"), ("EMAIL", "agent@example.com"))
        }
        done = run_client(
            ["git", *words],
            {
                "HOME": str(self.folder),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_TERMINAL_PROMPT": "0",
                **identity,
                **self.env,
            },
            cwd=self.folder,
            timeout=SECONDS,
        )
        assert (done.returncode == 0) is ok, done.stderr
        assert SECRET.encode() not in done.stdout + done.stderr
        return done


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream
) -> Iterator[GhostHome]:
    program("git")
    basic = {"kind": "basic", "username": "git", "placeholder": ""}
    with ghost_home(
        tmp_path_factory.mktemp("git"),
        up,
        certs,
        credentials={"demo": basic},
    ) as home:
        lines = home.config.read_text().splitlines()
        home.config.write_text(
            "\n".join(line for line in lines if "placeholder" not in line) + "\n"
        )
        with possess(home):
            yield home


@pytest.fixture
def git(place: GhostHome, tmp_path: Path) -> Git:
    session = spawn(place, "demo_api")
    return Git(place, session, block(place, session), tmp_path)


def test_push_and_clone_work_without_a_credential_in_the_agents_hands(
    git: Git, up: Upstream, tmp_path: Path
) -> None:
    before = len(up.requests)
    bare = serve(up, tmp_path, "widgets", user="git", password=SECRET)
    url = f"{up.url}/widgets.git"
    work = tmp_path / "work"
    git.run("clone", "-q", url, "work")
    (work / "large.bin").write_bytes(os.urandom(2_000_000))  # over http.postBuffer: sent in chunks
    git.run("-C", "work", "add", ".")
    git.run("-C", "work", "commit", "-qm", "first")
    git.run("-C", "work", "push", "-q", "origin", "HEAD:main")
    git.run("clone", "-q", "-b", "main", url, "again")
    assert (tmp_path / "again" / "large.bin").read_bytes() == (work / "large.bin").read_bytes()
    assert (bare / "refs" / "heads" / "main").exists()
    found = up.requests[before:]
    assert {each.all("authorization") for each in found} == {(INJECTED,)}
    assert any(each.header("transfer-encoding") == b"chunked" for each in found)
    posts = [each for each in found if each.method == b"POST"]
    assert {each.path for each in posts} >= {
        "/widgets.git/git-receive-pack",
        "/widgets.git/git-upload-pack",
    }
    outcomes = eventually(
        lambda: (
            seen
            if len(seen := entries(git.home, git.session, "action.outcome")) >= len(posts)
            else None
        ),
        "an outcome of every post",
    )
    assert {each.fields["status"] for each in outcomes} == {"executed"}
    assert SECRET.encode() not in stored(git.home, git.session)
    sid = git.session.sid
    assert inside(git.home, "evaporate", "--session-id", sid).code == 0
    assert inside(git.home, "replay", "--session-id", sid).code == 0


def test_a_server_that_refuses_the_secret_is_no_reason_to_prompt(
    git: Git, up: Upstream, tmp_path: Path
) -> None:
    serve(up, tmp_path, "locked", user="git", password="another")
    done = git.run("clone", "-q", f"{up.url}/locked.git", "work", ok=False)
    assert b"terminal prompts disabled" in done.stderr


def test_a_host_out_of_scope_cannot_be_cloned(git: Git) -> None:
    done = git.run("clone", "-q", "https://git.example.com/x.git", "work", ok=False)
    assert b"403" in done.stderr
    assert entries(git.home, git.session, "action.denied")[-1].fields["host"] == "git.example.com"
