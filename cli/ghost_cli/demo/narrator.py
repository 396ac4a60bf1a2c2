"""Tells the demo step by step: colour and a spinner on a terminal, plain lines without."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ghost_cli import output
from ghost_core.errors import FailedError, GhostError

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME_WIDTH = 17


@dataclass(frozen=True, slots=True)
class Step:
    """A step that went as expected."""

    name: str
    detail: str
    milliseconds: int


@dataclass(slots=True)
class Narrator:
    """Runs steps and tells each; silent with `--json`, where `steps` is the result."""

    console: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    steps: list[Step] = field(default_factory=list)

    def step(self, name: str, work: Callable[[], str]) -> None:
        """Run one step; its text is what was seen. Raises FailedError naming the step."""
        started = time.monotonic()
        try:
            with self._waiting(name):
                detail = work()
        except GhostError as error:
            self._tell(name, error.message, mark="✗", style="bold red")
            raise FailedError(
                f"demo step {name!r}: {error.message}", code="demo.step", hint=error.hint
            ) from error
        taken = round((time.monotonic() - started) * 1000)
        self.steps.append(Step(name, detail, taken))
        self._tell(name, detail, mark="✓", style="bold green")

    def heading(self, text: str) -> None:
        """Start a part of the story."""
        self._line(Text())
        self._line(Text(text, "bold"))

    def close(self, rows: dict[str, str]) -> None:
        """Say what the reader can do now."""
        self._line(Text())
        for name, value in rows.items():
            self._line(Text.assemble((f"{name:<10}", "bold cyan"), value))

    def _waiting(self, name: str) -> AbstractContextManager[object]:
        if output.options().json or not self.console.is_terminal:
            return nullcontext()
        return self.console.status(Text(f"{name} …", "dim"))

    def _tell(self, name: str, detail: str, *, mark: str, style: str) -> None:
        told = Text.assemble("  ", (mark, style), " ", (f"{name:<{_NAME_WIDTH}}", "bold"))
        self._line(told.append(output.neutral(detail)))

    def _line(self, text: Text) -> None:
        if output.options().json:
            return
        if self.console.is_terminal:
            self.console.print(text)
        else:
            output.lines(text.plain)
