"""The table of the battery: one row per scenario, and a failure that nobody can overlook."""

from __future__ import annotations

import pytest

from support.board import Board, Sight, Variant

SENT = "two names"


def board(*outcomes: str) -> Board:
    made = Board()
    for number, outcome in enumerate(outcomes):
        sight = Sight(["nothing"], [f"40{number}"], ["denied"])
        made.open("two-hosts", 1, SENT).variants.append(Variant(outcome, sight))
    return made


def test_variants_of_a_scenario_share_a_row_that_names_each_thing_once() -> None:
    (row,) = board("passed", "passed").tried
    assert row.cells() == ("two-hosts", SENT, "nothing", "400; 401", "denied", "holds 2 of 2")


def test_many_different_things_are_counted() -> None:
    (row,) = board(*["passed"] * 6).tried
    assert row.cells()[3] == "400; 401; 402; 403; 2 more"


@pytest.mark.parametrize(
    ("outcomes", "verdict", "end"),
    [
        (["passed"], "holds", "none fails"),
        (["passed", "failed"], "FAILS 1 of 2", "failing: two-hosts"),
        (["skipped", "failed"], "FAILS 1 of 1", "failing: two-hosts"),
        (["skipped"], "skipped", "none fails (1 skipped)"),
        (["skipped", "passed"], "holds", "none fails"),
    ],
)
def test_one_variant_that_fails_fails_the_row(outcomes: list[str], verdict: str, end: str) -> None:
    made = board(*outcomes)
    assert made.tried[0].verdict == verdict
    assert made.summary() == f"1 scenarios in {len(outcomes)} variants, {end}"
    assert verdict in made.text(160)
    assert f"| {verdict} |" in made.markdown()


def test_two_descriptions_of_one_scenario_are_a_mistake() -> None:
    made = board("passed")
    for severity, sent in ((2, SENT), (1, "another")):
        with pytest.raises(ValueError, match="two-hosts"):
            made.open("two-hosts", severity, sent)
    with pytest.raises(ValueError, match="severity"):
        made.open("new", 4, SENT)


def test_what_was_not_run_is_not_shown() -> None:
    made = board("passed")
    made.open("not-run", 1, SENT)
    assert "not-run" not in made.text(160) + made.markdown()


def test_a_cell_cannot_break_the_markdown() -> None:
    made = Board()
    made.open("x", 3, "a|b <c>").variants.append(Variant("passed", Sight()))
    assert "| a\\|b &lt;c> |" in made.markdown()
