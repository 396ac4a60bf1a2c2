"""The line about refused calls: how many, and why the last one was, in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from ghost_addons.refusal import Refusal
from ghost_addons.refusals import Last
from ghost_cli.refused import line
from ghost_ledger.reader import Ledger

SID = "gh_" + "a" * 32


@dataclass(frozen=True)
class Row:
    """What the line reads of an action."""

    status: str
    count: int


class Rows:
    """The rows of a session, as a ledger would return them."""

    def __init__(self, *rows: tuple[str, int]) -> None:
        self.rows = [Row(*each) for each in rows]

    def actions(self, sid: str) -> list[Row]:
        assert sid == SID
        return self.rows


def said(*rows: tuple[str, int], sid: str = SID, message: str = "no scope names it") -> str:
    last = Last(sid, "api.test", Refusal(403, "scope.host", message, "scope"))
    return line(cast("Ledger", Rows(*rows)), SID, last)


def test_nothing_is_said_where_no_call_was_refused() -> None:
    assert said(("executed", 1), ("failed", 1)) == ""


@pytest.mark.parametrize(
    ("rows", "begin"),
    [
        ([("denied", 1)], "1 call refused: "),
        ([("denied", 1), ("executed", 1), ("denied", 4)], "5 calls refused, the last: "),
    ],
)
def test_refusals_are_counted_and_the_last_one_told(
    rows: list[tuple[str, int]], begin: str
) -> None:
    assert said(*rows) == f"{begin}api.test: no scope names it (scope.host)"


def test_the_reason_of_another_session_is_not_told() -> None:
    assert said(("denied", 2), sid="gh_" + "b" * 32) == "2 calls refused"
    assert line(cast("Ledger", Rows(("denied", 1))), SID, None) == "1 call refused"


def test_the_rule_and_what_a_human_can_do_are_told() -> None:
    told = Refusal(403, "rule.denied", "no", "rule", rule="rule:a.yaml.0", hint="a\nhuman can")
    text = line(cast("Ledger", Rows(("denied", 1))), SID, Last(SID, "api.test", told))
    assert text == "1 call refused: api.test: no (rule.denied, rule:a.yaml.0)\nhint: a human can"


def test_a_message_stays_one_line_of_some_length() -> None:
    text = said(("denied", 1), message="no\nsealed: by me\r" + "x" * 5000)
    assert text.startswith("1 call refused: api.test: no sealed: by me xxx")
    assert len(text.splitlines()) == 1
    assert len(text) < 500


def test_the_rule_that_said_no_is_named() -> None:
    last = Last(SID, "api.test", Refusal(500, "hook.timeout", "took too long", "hook", "hook:a.sh"))
    shown = line(cast("Ledger", Rows(("denied", 1))), SID, last)
    assert shown == "1 call refused: api.test: took too long (hook.timeout, hook:a.sh)"
