"""Limits: what a call uses, and whether that is too much."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ghost_core.settings_tables import LimitSettings
from ghost_hooks.limits import Spent, cost, judge, limited
from ghost_hooks.params import UnreadableError
from ghost_hooks.request import Request
from ghost_hooks.target import Target


def _limits(**tree: Any) -> LimitSettings:
    return LimitSettings.model_validate(tree)


_SUM = _limits(sum={"field": "charge.amount", "max": 5000})


def _request(body: bytes | None) -> Request:
    headers = ((b"content-type", b"application/json"),)
    return Request("POST", Target("https", "a.example", 443), headers, body)


def test_a_call_costs_itself_its_bytes_and_the_field() -> None:
    body = b'{"charge":{"amount":10.50}}'
    assert cost(_SUM, _request(body), "json") == Spent(1, len(body), Decimal("10.50"))
    assert cost(_limits(calls=1), _request(b"xyz"), None) == Spent(1, 3)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"charge":{"amount":-1}}',
        b'{"charge":{"amount":"lots"}}',
        b'{"charge":{"amount":null}}',
        b'{"charge":{"amount":1000000000000000000}}',
        b'{"charge":{"amount":1E+400000}}',
        b'{"charge":{"amount":0.0000000000000000001}}',
        b"[]",
        b"{",
        None,
    ],
)
def test_a_call_whose_cost_cannot_be_told_is_refused(body: bytes | None) -> None:
    with pytest.raises(UnreadableError):
        cost(_SUM, _request(body), "json")


@pytest.mark.parametrize(
    ("limits", "spent", "now", "code"),
    [
        (_limits(calls=2), Spent(1), Spent(1), ""),
        (_limits(calls=2), Spent(2), Spent(1), "limit.calls"),
        (_limits(calls=0), Spent(), Spent(1), "limit.calls"),
        (_limits(bytes=10), Spent(1, 6), Spent(1, 4), ""),
        (_limits(bytes=10), Spent(1, 6), Spent(1, 5), "limit.bytes"),
        (_SUM, Spent(1, 0, Decimal(4000)), Spent(1, 0, Decimal(1000)), ""),
        (_SUM, Spent(1, 0, Decimal(4000)), Spent(1, 0, Decimal("1000.01")), "limit.sum"),
        (_SUM, None, Spent(1), "limit.uncounted"),
    ],
)
def test_a_limit_is_reached_when_this_call_would_go_over(
    limits: LimitSettings, spent: Spent | None, now: Spent, code: str
) -> None:
    verdict = judge(limits, spent, now, rule="t:a")
    assert (verdict.code if verdict else "") == code
    assert verdict is None or verdict.status == (500 if spent is None else 429)


def test_amounts_add_up_exactly() -> None:
    large, small = Decimal(999999999999999999), Decimal("0.000000000000000001")
    both = Spent(1, 2, large) + Spent(1, 3, small)
    assert both == Spent(2, 5, Decimal("999999999999999999.000000000000000001"))
    assert both - Spent(1, 3, small) == Spent(1, 2, large)


def test_a_refusal_says_which_limit_a_human_can_raise() -> None:
    verdict = judge(_limits(calls=0), Spent(), Spent(1), rule="pay:create")
    assert verdict is not None
    assert "limits.calls of pay:create" in verdict.hint


def test_nothing_set_is_nothing_limited() -> None:
    assert not limited(None)
    assert not limited(_limits())
    assert limited(_SUM)
