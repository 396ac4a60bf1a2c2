"""How this program was installed, and how that same program installs a wheel over it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal, Self

from ghost_cli.doctor.program import DISTRIBUTION
from ghost_core.errors import FailedError, UnavailableError
from ghost_core.look import is_file

__all__ = ["Installation"]

RECEIPT: Final = "uv-receipt.toml"  # what `uv tool install` leaves in its environments
PIPX: Final = "pipx_metadata.json"
ASK_SECONDS: Final = 60
STDERR: Final = 2

type Way = Literal["pip", "pipx", "uv tool", "uv"]


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment with this program; `source` is the folder or repository that it was built from."""

    python: Path
    prefix: Path
    installer: str
    source: str = ""
    editable: bool = False

    @classmethod
    def here(cls) -> Self:
        """Return the one that runs. Raises UnavailableError `upgrade.installation` for a mere folder."""
        try:
            found = metadata.distribution(DISTRIBUTION)
        except metadata.PackageNotFoundError as error:
            raise UnavailableError(
                "upgrade: this ghost is not an installed package", code="upgrade.installation"
            ) from error
        installer = (found.read_text("INSTALLER") or "").strip().lower()
        return cls(
            Path(sys.executable),
            Path(sys.prefix),
            installer,
            *_source(found.read_text("direct_url.json")),
        )

    @property
    def way(self) -> Way:
        """The program that installed it; raises UnavailableError `upgrade.installer` for another."""
        if is_file(self.prefix / RECEIPT):
            return "uv tool"
        if is_file(self.prefix / PIPX):
            return "pipx"
        if self.installer == "pip":
            return "pip"
        if self.installer == "uv":
            return "uv"
        raise UnavailableError(
            f"upgrade: installed by {self.installer[:40] or 'nobody knows what'!r}, not by pip, pipx or uv",
            code="upgrade.installer",
            hint="upgrade it with the program that installed it",
        )

    def command(self, wheel: str) -> list[str]:
        """Return the command that installs a wheel over this; what each tool keeps about it stays right."""
        match self.way:
            case "pipx":
                return ["pipx", "runpip", DISTRIBUTION, "install", "--upgrade", wheel]
            case "uv tool" | "uv":
                return ["uv", "pip", "install", "--python", str(self.python), wheel]
            case "pip":
                return [str(self.python), "-m", "pip", "install", "--upgrade", wheel]

    def install(self, wheel: Path) -> None:
        """Install a wheel; what the installer says goes to stderr.

        Raises UnavailableError `upgrade.installer`, FailedError `upgrade.failed`.
        """
        command = self.command(str(wheel))
        if shutil.which(command[0]) is None:
            raise UnavailableError(
                f"upgrade: {command[0]!r}, which installed this ghost, is not on PATH",
                code="upgrade.installer",
                hint=f"put {command[0]} on PATH and run it again",
            )
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=STDERR)
        if done.returncode:
            raise FailedError(
                f"upgrade: {command[0]} ended with {done.returncode}",
                code="upgrade.failed",
                hint="its own words are above",
            )

    def version(self) -> str:
        """Return the version that this environment has now; empty where it does not answer."""
        command = [str(self.python), "-P", "-m", "ghost_cli", "version", "--json"]
        try:
            done = subprocess.run(
                command,
                check=True,
                capture_output=True,
                timeout=ASK_SECONDS,
                stdin=subprocess.DEVNULL,
            )
            return str(json.loads(done.stdout)["version"])
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
            return ""


def _source(text: str | None) -> tuple[str, bool]:
    """Read what PEP 610 keeps: whether a folder or a repository was installed, not a file of an index."""
    try:
        found: Any = json.loads(text or "{}")
        folder = found.get("dir_info")
        if folder is None and found.get("vcs_info") is None:
            return "", False
        return str(found.get("url", "")), bool((folder or {}).get("editable"))
    except (ValueError, AttributeError):
        return "", False
