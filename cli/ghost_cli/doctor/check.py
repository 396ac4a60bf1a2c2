"""One line of the doctor: what was looked at, how it is, what was found, the command that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from ghost_core.errors import GhostError

type Status = Literal["ok", "warn", "fail"]
type Examination = Callable[[], Iterable[Check]]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `mend` is a command, empty where nothing needs one. Neither holds a secret."""

    name: str
    status: Status
    found: str
    mend: str = ""

    def line(self, width: int) -> str:
        """Return the finding as one line of text."""
        text = f"{self.status:<4}  {self.name:<{width}}  {self.found}"
        return " ".join(f"{text}; mend: {self.mend}".split("\n")) if self.mend else text

    def document(self) -> dict[str, object]:
        """Return the finding as JSON."""
        return {"name": self.name, "status": self.status, "found": self.found, "mend": self.mend}


def ok(name: str, found: str) -> Check:
    """Say that it is as it should be."""
    return Check(name, "ok", found)


def warn(name: str, found: str, mend: str) -> Check:
    """Say that it works, but not for everybody or not for ever."""
    return Check(name, "warn", found, mend)


def fail(name: str, found: str, mend: str) -> Check:
    """Say that it does not work."""
    return Check(name, "fail", found, mend)


def examine(name: str, examination: Examination) -> Iterator[Check]:
    """Yield the findings of one examination; one that breaks off is itself a finding.

    Of errors that are not ours only the kind is told: their text may repeat a value.
    """
    try:
        yield from examination()
    except GhostError as error:
        yield fail(
            name,
            error.message,
            error.hint or "change what it names, then run it again: ghost doctor",
        )
    except (OSError, ImportError, ValueError, ArithmeticError) as error:
        yield fail(name, f"could not be looked at, {type(error).__name__}", REINSTALL)


REINSTALL = "install ghost again: uv tool install --force ., or pip install --force-reinstall ."
