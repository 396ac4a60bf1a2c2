"""The account of a session: judged and taken in one step, given back where nothing was entered."""

from __future__ import annotations

from decimal import Decimal

from ghost_core.settings_tables import LimitSettings
from ghost_hooks.account import Account
from ghost_hooks.limits import Spent

NAME = ("pay", "create")
TWO = LimitSettings(calls=2)


def test_the_last_unit_goes_to_one_call_only() -> None:
    account = Account({NAME: Spent(1)})
    assert account.take("act_1", NAME, TWO, Spent(1)) is None
    refusal = account.take("act_2", NAME, TWO, Spent(1))
    assert refusal is not None
    assert refusal.code == "limit.calls"
    assert account.taken("act_2") is None


def test_what_is_given_back_can_be_taken_by_another() -> None:
    account = Account()
    spent = Spent(1, 5, Decimal("2.5"))
    assert account.take("act_1", NAME, TWO, spent) is None
    assert account.taken("act_1") == spent
    account.give_back("act_1")
    account.give_back("act_1")
    account.give_back("act_9")
    assert account.used(NAME) == Spent()


def test_what_is_entered_stays_taken() -> None:
    account = Account()
    account.take("act_1", NAME, TWO, Spent(1))
    account.keep("act_1")
    account.give_back("act_1")
    assert account.used(NAME) == Spent(1)


def test_a_call_that_nothing_limits_counts_for_a_limit_to_come() -> None:
    account = Account()
    account.add(NAME, Spent(1, 10))
    assert account.used(NAME) == Spent(1, 10)
    assert account.used(("pay", "other")) == Spent()
