from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_ledger.export.table import COLUMNS, csv_text, neutral
from support import views

SEED = (
    "session_id", "intent", "spawned_at", "evaporated_at", "action_id", "tool", "action",
    "timestamp", "params_hash", "response_hash", "signature", "root_signature", "verified",
)  # fmt: skip


def _rows(view: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(view), newline="")))


def test_the_fields_of_the_seed_come_first() -> None:
    assert COLUMNS[: len(SEED)] == SEED


def test_each_action_has_a_row() -> None:
    rows = _rows(views.view(views.action(2), views.denied(4)))
    assert [row["status"] for row in rows] == ["executed", "denied"]
    assert rows[1]["rule"] == "none"
    assert {row["verified"] for row in rows} == {"true"}


def test_a_session_without_actions_does_not_vanish() -> None:
    (row,) = _rows(views.view())
    assert row["session_id"] == views.SID
    assert row["action_id"] == ""


def test_all_sessions_share_one_header() -> None:
    both = {"sessions": [views.view(views.action(2)), views.view(views.denied(2))]}
    assert len(_rows(both)) == 2
    assert csv_text(both).count("session_id") == 1


def test_lines_end_as_the_rfc_says() -> None:
    text = csv_text(views.view(views.action(2)))
    assert text.endswith("\r\n")
    assert text.count("\r\n") == text.count("\n") == 2


@pytest.mark.parametrize(
    "hostile",
    [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '"=1', "'=1", "  =1", "\u00a0=1",
        "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", '" \uff1d1', "\u200b=1", "=cmd|'/C calc'!A0",
    ],
)  # fmt: skip
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(hostile: str) -> None:
    assert neutral(hostile) == f"'{hostile}"


@pytest.mark.parametrize(
    "plain", ["deploy_staging", "POST", "a=b", "x-1", "", "gh_0", "no @ first"]
)
def test_an_ordinary_cell_stays_as_it_is(plain: str) -> None:
    assert neutral(plain) == plain


def test_values_of_other_kinds_have_one_form() -> None:
    assert [neutral(None), neutral(True), neutral(-5)] == ["", "true", "-5"]


@given(st.text())
def test_taking_the_apostrophe_away_gives_the_value_back(value: str) -> None:
    assert neutral(value).removeprefix("'") == value


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_hostile_intent_stays_in_its_cell(value: str) -> None:
    (row,) = _rows(views.view(intent=value))
    assert row["intent"].removeprefix("'") == value
    assert row["session_id"] == views.SID
