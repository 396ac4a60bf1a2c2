from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_templates import text
from ghost_templates.text import shown


@pytest.mark.parametrize(
    "plain", ["", "stripe_create_charge", "deploy staging, now", "Größe Ünïcode"]
)
def test_ordinary_text_is_only_isolated(plain: str) -> None:
    assert shown(plain) == f"<bdi>{plain}</bdi>"


@pytest.mark.parametrize(
    ("hostile", "named"),
    [
        ("\x1b", "\\x1b"),
        ("\u202e", "U+202E"),
        ("\u200b", "U+200B"),
        ("\x85", "\\x85"),
        ("\u2028", "U+2028"),
        ("a\rb", "\\r"),
        ("cafe\u0301", "U+0301"),
    ],
)
def test_a_character_that_acts_is_named(hostile: str, named: str) -> None:
    assert f'<span class="esc">{named}</span>' in shown(hostile)


def test_line_ends_of_the_wire_are_line_ends() -> None:
    assert shown("a\r\nb") == "<bdi>a\nb</bdi>"


@pytest.mark.parametrize(
    "deceiving", ["p\u0430ypal", "\u0430pi.x.example", "go\u03bfgle", "\uff41pi"]
)
def test_a_letter_that_imitates_latin_is_marked(deceiving: str) -> None:
    assert 'class="odd"' in shown(deceiving)


def test_a_word_of_another_script_is_left_alone() -> None:
    assert shown("привет. мир") == "<bdi>привет. мир</bdi>"


@given(st.text())
def test_marking_loses_no_visible_character(value: str) -> None:
    marked = str(shown(value))
    for character in value:
        if character.isalnum():
            assert character in marked


@pytest.mark.parametrize(
    ("bytes_", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_300, "1.3 kB"),
        (2_000_000, "2.0 MB"),
        (3_100_000_000, "3.1 GB"),
    ],
)
def test_sizes_have_units(bytes_: int, expected: str) -> None:
    assert text.size(bytes_) == expected


@pytest.mark.parametrize(
    ("microseconds", "expected"),
    [
        (840, "840 µs"),
        (412_345, "412 ms"),
        (1_250_000, "1.25 s"),
        (30_000_000, "30 s"),
        (125_000_000, "2 min 05 s"),
        (300_000_000, "5 min"),
        (11_220_000_000, "3 h 07 min"),
    ],
)
def test_durations_have_units(microseconds: int, expected: str) -> None:
    assert text.span(microseconds) == expected


def test_a_moment_is_shown_in_utc() -> None:
    assert text.moment("2026-06-12T15:32:00Z") == "12 Jun 2026, 15:32:00 UTC"


def test_no_moment_is_a_dash() -> None:
    assert text.moment(None) == "—"
