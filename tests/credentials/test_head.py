from __future__ import annotations

from ghost_credentials.head import Head

HEAD = Head("GET", "/v1?key=hunter2", ((b"A", b"1"), (b"B", b"2"), (b"a", b"3"), (b"C", b"4")))


def test_names_are_found_in_any_case() -> None:
    assert HEAD.get("a") == HEAD.get(b"A") == b"1"
    assert HEAD.values("A") == (b"1", b"3")
    assert HEAD.get("d") is None


def test_without_removes_every_line_of_the_names() -> None:
    assert HEAD.without("A", b"c").headers == ((b"B", b"2"),)


def test_with_header_leaves_one_lower_case_line_where_the_first_stood() -> None:
    head = Head("GET", "/", ((b"X", b"0"), *HEAD.headers))
    assert head.with_header("A", b"5").headers == (
        (b"X", b"0"),
        (b"a", b"5"),
        (b"B", b"2"),
        (b"C", b"4"),
    )


def test_with_header_appends_a_new_name() -> None:
    assert Head("GET", "/").with_header(b"New", b"1").headers == ((b"new", b"1"),)


def test_with_path_changes_nothing_else() -> None:
    assert HEAD.with_path("/") == Head("GET", "/", HEAD.headers)


def test_its_repr_shows_neither_values_nor_query() -> None:
    assert repr(HEAD) == "Head('GET', 4 headers)"
