from __future__ import annotations

from ghost_templates import diff
from ghost_templates.diff import BLANK
from support.views import part


def _signs(lines: tuple[diff.Line, ...]) -> list[tuple[str, str]]:
    return [(line.left.name or line.right.name, line.left.sign + line.right.sign) for line in lines]


def test_a_header_that_went_away_has_a_minus() -> None:
    lines = diff.heads(
        part("GET / HTTP/1.1", [("Connection", "close")]), part("GET / HTTP/1.1", [])
    )
    assert _signs(lines) == [("", ""), ("connection", "−")]
    assert lines[1].right == BLANK


def test_a_header_that_came_has_a_plus() -> None:
    lines = diff.heads(part("GET / HTTP/1.1", []), part("GET / HTTP/1.1", [("x-ghost", "1")]))
    assert _signs(lines) == [("", ""), ("x-ghost", "+")]


def test_a_header_that_changed_has_a_tilde_on_both_sides() -> None:
    lines = diff.heads(part("GET / HTTP/1.1", [("A", "1")]), part("GET / HTTP/1.1", [("a", "2")]))
    assert _signs(lines) == [("", ""), ("a", "~~")]


def test_case_and_order_of_headers_are_no_change() -> None:
    before = part("GET / HTTP/1.1", [("A", "1"), ("B", "2")])
    after = part("GET / HTTP/1.1", [("b", "2"), ("a", "1")])
    assert {sign for _, sign in _signs(diff.heads(before, after))} == {""}


def test_a_repeated_header_is_compared_value_by_value() -> None:
    before = part("GET / HTTP/1.1", [("a", "1"), ("a", "2")])
    lines = diff.heads(before, part("GET / HTTP/1.1", [("a", "1")]))
    assert _signs(lines) == [("", ""), ("a", ""), ("a", "−")]


def test_a_changed_start_line_is_marked() -> None:
    lines = diff.heads(part("GET /a HTTP/1.1", []), part("GET /b HTTP/1.1", []))
    assert lines[0].left.kind == "edit"


def test_lists_are_compared_as_sequences() -> None:
    lines = diff.sequences(["a", "b", "c"], ["a", "c", "d"])
    assert _signs(lines) == [("", ""), ("", "−"), ("", ""), ("", "+")]
