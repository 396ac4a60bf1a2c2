from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from ghost_core.settings_tables import (
    ActionSettings,
    CredentialSettings,
    RuleMatch,
    RuleSettings,
    ToolSettings,
)


def test_a_tool_of_the_users_gets_the_ghost_token_unless_it_says_no() -> None:
    assert ToolSettings().ghost_token
    assert not ToolSettings(ghost_token=False).ghost_token


def test_a_schema_is_a_file_or_an_inline_table() -> None:
    action = ActionSettings.model_validate(
        {"request_schema": "~/.ghost/s.json", "response_schema": {"type": "object"}}
    )
    assert isinstance(action.request_schema, Path)
    assert action.response_schema == {"type": "object"}


def test_the_ceiling_of_a_sum_is_exact() -> None:
    action = ActionSettings.model_validate(
        {"limits": {"sum": {"field": "amount", "max": Decimal("0.1")}}}
    )
    assert action.limits.sum is not None
    assert action.limits.sum.max == Decimal("0.1")


@pytest.mark.parametrize("field", ["amount[", "order..amount", "the amount"])
def test_the_field_of_a_sum_is_a_path(field: str) -> None:
    with pytest.raises(ValidationError, match="expected the name of a field"):
        ActionSettings.model_validate({"limits": {"sum": {"field": field, "max": 1}}})


def test_a_rule_matches_everything_it_does_not_name() -> None:
    match = RuleMatch(host="*.internal")
    assert (match.method, match.path, match.tool) == ("*", "/**", None)


def test_a_rule_that_names_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="at least one of"):
        RuleMatch()


@pytest.mark.parametrize("rule", [{}, {"deny": {"host": "a"}, "approve": {"host": "a"}}])
def test_a_rule_denies_or_asks_and_never_both(rule: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="one of deny and approve"):
        RuleSettings.model_validate(rule)


def test_a_credential_never_holds_a_secret_itself() -> None:
    with pytest.raises(ValidationError, match="expected a reference"):
        CredentialSettings(secret="sk_live_1")
