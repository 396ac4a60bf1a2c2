from __future__ import annotations

from ghost_ledger.export.columns import Difference, axis


def test_no_difference_is_valid() -> None:
    assert axis(()).state == "valid"


def test_the_first_difference_is_named() -> None:
    found = axis((Difference("actions", "act_1", "status", "executed", "denied"),) * 2)
    assert found.state == "invalid"
    assert found.detail == (
        "2 differ, first actions.status of act_1: stored 'executed', signed 'denied'"
    )


def test_a_difference_is_a_plain_document() -> None:
    assert Difference("actions", "act_1", "*", "a row", None).view() == {
        "table": "actions", "id": "act_1", "column": "*", "stored": "a row", "signed": None,
    }  # fmt: skip
