from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ghost_ledger.export.message import parse, readable


def test_head_and_body_are_split_at_the_first_empty_line() -> None:
    found = parse(b"POST /v1 HTTP/1.1\r\nHost: a.example\r\nX-Empty:\r\n\r\na=1\r\n\r\nb=2")
    assert found.start == "POST /v1 HTTP/1.1"
    assert found.headers == (("Host", "a.example"), ("X-Empty", ""))
    assert found.body == "a=1\r\n\r\nb=2"
    assert found.encoding == "utf-8"


def test_a_head_without_body_is_fine() -> None:
    assert parse(b"GET / HTTP/1.1\r\nHost: a").headers == (("Host", "a"),)


def test_a_line_that_is_no_header_is_kept() -> None:
    assert parse(b"GET / HTTP/1.1\r\nnonsense\r\n\r\n").headers == (("", "nonsense"),)


def test_bytes_that_are_no_text_are_shown_as_escapes() -> None:
    found = parse(b"HTTP/1.1 200 OK\r\n\r\n\xff\xfe\\x41")
    assert found.body == "\\xff\\xfe\\\\x41"
    assert found.encoding == "escaped"


@given(st.binary())
def test_readable_text_loses_no_byte(data: bytes) -> None:
    text, encoding = readable(data)
    assert (_unescape(text) if encoding == "escaped" else text.encode()) == data


@given(st.binary())
def test_any_bytes_can_be_parsed(data: bytes) -> None:
    assert parse(data).encoding in {"utf-8", "escaped"}


def _unescape(text: str) -> bytes:
    """Undo the escapes: what a reader would do by hand."""
    pieces = re.split(r"\\(\\|x[0-9a-f]{2})", text)
    return b"".join(
        piece.encode() if at % 2 == 0 else b"\\" if piece == "\\" else bytes.fromhex(piece[1:])
        for at, piece in enumerate(pieces)
    )
