"""Real git repositories in a test's folder, made with no settings of this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_WHO = {
    f"GIT_{who}_{what}": "t@example.com"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


def git(folder: Path, *words: str) -> None:
    """Run git in a folder; it must succeed."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *words], cwd=folder, env={**environment, **_WHO}, check=True, capture_output=True
    )


def repository(folder: Path, remote: str = "") -> Path:
    """Make a repository with one commit, and a remote `origin` if one is given."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder
