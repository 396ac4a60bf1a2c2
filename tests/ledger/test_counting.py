"""What intents add up to, whatever became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from ghost_core.errors import IntegrityError
from ghost_ledger.canonical import Value
from ghost_ledger.counting import Counted
from ghost_ledger.reader import Ledger
from support.ledger import Owned, intent, open_recorder, script, spawned


def _entered(owned: Owned, action: str, more: Mapping[str, Value]) -> None:
    draft = intent(owned.sid)
    fields = {**draft.fields, "action": action, **more}
    owned.recorder.append(replace(draft, fields=fields))


def test_calls_bytes_and_sums_are_counted_by_tool_and_action(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned, other = spawned(recorder), spawned(recorder)
        _entered(owned, "pay", {"counted": {"bytes": 7, "sum": "10.50"}, "size": 5})
        _entered(owned, "pay", {"counted": {"bytes": 3, "sum": "0.000000000000000001"}})
        _entered(owned, "free", {"size": 4})
        _entered(other, "pay", {"size": 99})
        found = Ledger(recorder.engine).counted(owned.sid)
    by_action = {name[1]: each for name, each in found.items()}
    assert by_action == {
        "pay": Counted(2, 10, Decimal("10.500000000000000001")),
        "free": Counted(1, 4),
    }


def test_a_session_without_calls_used_nothing(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        assert Ledger(recorder.engine).counted(spawned(recorder).sid) == {}


@pytest.mark.parametrize("sum_", ["1e3", "-", "1" * 19, "0." + "1" * 19])
def test_an_amount_that_would_not_add_up_exactly_cannot_be_entered(
    tmp_path: Path, sum_: str
) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        with pytest.raises(IntegrityError):
            _entered(owned, "pay", {"counted": {"bytes": 0, "sum": sum_}})


def test_an_entry_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    with open_recorder(tmp_path) as recorder:
        owned = spawned(recorder)
        _entered(owned, "pay", {})
        script(
            tmp_path,
            "DROP TRIGGER entries_update;"
            " UPDATE entries SET body = CAST('{' AS BLOB) WHERE type = 'action.intent'",
        )
        with pytest.raises(IntegrityError):
            Ledger(recorder.engine).counted(owned.sid)
