from __future__ import annotations

import pytest

from ghost_core.errors import IncompleteError, IntegrityError
from ghost_ledger.verify.report import REQUIRED, Axis, Report, judge

VALID = tuple(Axis(name, "valid") for name in REQUIRED)


def report(*axes: Axis) -> tuple[str, int]:
    result = Report(axes)
    return result.verdict, result.exit_code


def test_all_required_axes_valid_is_valid():
    assert report(*VALID, Axis("disclosure", "absent")) == ("valid", 0)


def test_no_axis_at_all_is_incomplete():
    assert report() == ("incomplete", 8)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_required_axis_is_incomplete(name: str):
    axes = [axis for axis in VALID if axis.name != name]
    assert report(*axes) == ("incomplete", 8)
    assert report(*axes, Axis(name, "absent")) == ("incomplete", 8)


@pytest.mark.parametrize("name", [*REQUIRED, "content", "head"])
def test_one_undecided_axis_is_incomplete_and_one_broken_invalid(name: str):
    axes = [axis for axis in VALID if axis.name != name]
    assert report(*axes, Axis(name, "incomplete")) == ("incomplete", 8)
    assert report(*axes, Axis(name, "invalid")) == ("invalid", 7)


def test_broken_weighs_more_than_undecided():
    assert report(Axis("a", "incomplete"), Axis("b", "invalid")) == ("invalid", 7)


def test_an_axis_is_found_by_its_name_and_absent_otherwise():
    result = Report((Axis("chain", "valid", "3 entries"),))
    assert result.axis("chain").detail == "3 entries"
    assert result.axis("witness") == Axis("witness", "absent")


def broken() -> str:
    raise IntegrityError("entry 3: bad")


def undecided() -> str:
    raise IncompleteError("no seal")


def test_a_check_says_what_state_its_axis_has():
    assert judge("a", lambda: "fine") == Axis("a", "valid", "fine")
    assert judge("a", lambda: None) == Axis("a", "absent")
    assert judge("a", broken) == Axis("a", "invalid", "entry 3: bad")
    assert judge("a", undecided) == Axis("a", "incomplete", "no seal")
