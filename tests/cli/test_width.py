from __future__ import annotations

import pytest

from ghost_cli import width


@pytest.mark.parametrize(
    ("said", "found"), [("40", 40), ("1", 1), ("0", None), ("", None), ("-5", None), ("x", None)]
)
def test_columns_are_those_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, said: str, found: int | None
) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert width.columns() == found


def test_into_a_pipe_nothing_is_shortened(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert width.columns() is None


@pytest.mark.parametrize(
    ("room", "shown"), [(None, "abcdef"), (6, "abcdef"), (5, "abcd…"), (1, "…"), (0, "…")]
)
def test_what_does_not_fit_ends_with_an_ellipsis(room: int | None, shown: str) -> None:
    assert width.cut("abcdef", room) == shown
