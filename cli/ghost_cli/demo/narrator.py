"""Tells the demo step by step: colour and a spinner on a terminal, plain lines without."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ghost_cli import output
from ghost_core.errors import FailedError, GhostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAME_WIDTH = 17
_PATIENCE_SECONDS = 0.5


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
            self._tell(name, "", mark="✗", style="bold red")
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
            self._line(Text.assemble((f"{name:<12}", "bold cyan"), value))

    @contextmanager
    def _waiting(self, name: str) -> Iterator[None]:
        if output.options().json or not self.console.is_terminal:
            yield
            return
        spinner = self.console.status(Text(f"{name} …", "dim"))
        timer = threading.Timer(_PATIENCE_SECONDS, spinner.start)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            spinner.stop()

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
