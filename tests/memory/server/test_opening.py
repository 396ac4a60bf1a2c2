from __future__ import annotations

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


def test_the_ledger_is_closed_after_what_works_beside_it(memory: Store) -> None:
    ended: list[str] = []

    class Parts(type(plug(MemorySettings()))):  # type: ignore[misc]
        def close(self) -> None:
            ended.append("parts")

    parts = Parts(MemorySettings().search, None)
    Opened(memory.recorder, memory.clock, parts, lambda: ended.append("ledger")).close()
    assert ended == ["parts", "ledger"]
