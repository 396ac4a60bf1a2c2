from __future__ import annotations

import threading
from typing import Any

import pytest

from ghost_core.settings_models import MemorySettings
from ghost_memory.server.opening import Store as Opened
from ghost_memory.server.parts import plug
from ghost_memory.server.service import Caller
from support.memory import Store


def test_every_caller_writes_under_its_own_name(memory: Store) -> None:
    session = "gh_" + "1" * 32
    store = Opened(memory.recorder, memory.clock, plug(MemorySettings()), lambda: None)
    who = store.desk(Caller("one/1", session)).journal.who
    assert (who.by, who.host, who.session) == ("mcp", "one/1", session)
    assert store.desk(Caller("two/2")).journal.who.host == "two/2"


class Slow:
    """Parts whose end takes its time."""

    def __init__(self, seconds: float, ended: list[str]) -> None:
        self._seconds = seconds
        self._ended = ended

    def close(self) -> None:
        threading.Event().wait(self._seconds)
        self._ended.append("parts")


@pytest.mark.parametrize(("seconds", "order"), [(0.0, ["parts", "ledger"]), (30.0, ["ledger"])])
def test_the_ledger_is_closed_after_what_works_beside_it_but_waits_for_nothing(
    memory: Store, seconds: float, order: list[str]
) -> None:
    ended: list[str] = []
    parts: Any = Slow(seconds, ended)
    Opened(memory.recorder, memory.clock, parts, lambda: ended.append("ledger")).close()
    assert ended == order
