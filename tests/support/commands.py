"""`ghost` called in this process, in a home of its own: quick, with what it wrote."""

from __future__ import annotations

import json
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ghost_cli.main import main


@dataclass(frozen=True, slots=True)
class Said:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # whatever the command printed
        """The JSON object on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Command:
    """Runs `ghost` in a folder."""

    capture: pytest.CaptureFixture[str]
    folder: Path

    def __call__(self, *words: str, code: int = 0, folder: Path | None = None) -> Said:
        """Run one command that must end with this code."""
        with chdir(folder or self.folder):
            ended = main(list(words))
        said = Said(ended, *self.capture.readouterr())
        assert ended == code, f"ghost {' '.join(words)}: exit {ended}\n{said.out}\n{said.err}"
        return said
