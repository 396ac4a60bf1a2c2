"""Versions in order."""

from __future__ import annotations

import pytest

from ghost_cli.upgrade.versions import parse


def test_versions_are_in_the_order_of_their_numbers() -> None:
    texts = ["0.9", "0.10.dev1", "0.10", "0.10.1rc1", "0.10.1", "1.0a1", "v1.0.0", "2", "10.0"]
    found = [parse(each) for each in texts]
    assert None not in found
    assert sorted(found) == found


@pytest.mark.parametrize(
    ("one", "two"),
    [("1", "1.0.0"), ("1.2.0", "1.2"), ("1.0rc1", "1.0.dev3"), ("1.0+local.1", "1.0")],
)
def test_what_differs_in_form_only_is_the_same(one: str, two: str) -> None:
    assert parse(one) == parse(two)


@pytest.mark.parametrize(
    "text", ["", "1.", "1!2.0", "1.0.post1", "one", "1.0-", "9" * 10, "1.1.1.1.1.1.1", "١.٢x"]
)
def test_what_we_do_not_compare_is_none(text: str) -> None:
    assert parse(text) is None
