"""The answer of a verification: one state per axis, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ghost_core.errors import IncompleteError, IntegrityError

__all__ = ["REQUIRED", "Axis", "Report", "State", "judge"]

type State = Literal["valid", "invalid", "incomplete", "absent"]

REQUIRED = ("signatures", "chain", "complete", "intents", "inclusion", "key")
_EXIT = {"valid": 0, "invalid": IntegrityError.exit_code, "incomplete": IncompleteError.exit_code}


@dataclass(frozen=True, slots=True)
class Axis:
    """What was found on one axis; the detail names the first bad entry by its `seq`."""

    name: str
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The axes, which session they speak of, and the pinned keys that took part."""

    axes: tuple[Axis, ...]
    sid: str = ""
    entries: int = 0
    keys: tuple[str, ...] = ()

    @property
    def verdict(self) -> Literal["valid", "invalid", "incomplete"]:
        """Valid only if no axis failed, none is undecided, and every required one is valid."""
        states = {axis.name: axis.state for axis in self.axes}
        if "invalid" in states.values():
            return "invalid"
        if "incomplete" in states.values():
            return "incomplete"
        required = all(states.get(name) == "valid" for name in REQUIRED)
        return "valid" if required else "incomplete"

    @property
    def exit_code(self) -> int:
        """Return 0, 7 or 8: verified, broken, incomplete."""
        return _EXIT[self.verdict]

    def axis(self, name: str) -> Axis:
        """Return one axis; one that was never judged is absent."""
        return next((axis for axis in self.axes if axis.name == name), Axis(name, "absent"))


def judge(name: str, check: Callable[[], str | None]) -> Axis:
    """Run one check: its text means valid, None absent, its errors invalid or incomplete."""
    try:
        detail = check()
    except IntegrityError as error:
        return Axis(name, "invalid", error.message)
    except IncompleteError as error:
        return Axis(name, "incomplete", error.message)
    return Axis(name, "absent") if detail is None else Axis(name, "valid", detail)
