from __future__ import annotations

from ghost_ledger.export.comparison import compare
from support import views


def test_equal_sessions_are_the_same() -> None:
    assert compare(views.view(views.action(2)), views.view(views.action(4)))["same"] is True


def test_a_fact_that_differs_is_named() -> None:
    found = compare(views.view(), views.view(intent="other"))
    assert {"name": "intent", "this": "deploy_staging", "other": "other"} in found["facts"]
    assert found["same"] is False


def test_actions_are_lines_that_can_be_compared() -> None:
    found = compare(views.view(views.action(2), views.denied(4)), views.view())
    assert found["actions_this"] == [
        "stripe_create_charge:create_payment_intent: executed 200",
        "GET metadata.internal: denied 403",
    ]
    assert found["actions_other"] == []
