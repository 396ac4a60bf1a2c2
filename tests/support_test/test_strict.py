from __future__ import annotations

import pytest

from support.strict import AmbiguousError, read

HEAD = b"POST /echo HTTP/1.1\r\nHost: a\r\n"


def test_one_request_after_the_other_is_read() -> None:
    first, rest = read(HEAD + b"Content-Length: 2\r\n\r\n{}" + HEAD + b"\r\n")
    assert first is not None
    assert (first.method, first.target, first.body, first.complete) == (
        b"POST", b"/echo", b"{}", True,
    )  # fmt: skip
    second, rest = read(rest)
    assert second is not None
    assert (second.all(b"host"), second.body, rest) == ((b"a",), b"", b"")


def test_chunks_are_joined() -> None:
    found, rest = read(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\nGET")
    assert found is not None
    assert (found.body, found.complete, rest) == (b"{}", True, b"GET")


@pytest.mark.parametrize(
    "tail",
    [
        b"Content-Length: 3\r\n\r\n{}",
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
    ],
)
def test_a_body_that_breaks_off_is_told(tail: bytes) -> None:
    found, _ = read(HEAD + tail)
    assert found is not None
    assert not found.complete


def test_a_head_that_breaks_off_is_none() -> None:
    assert read(HEAD) == (None, HEAD)


@pytest.mark.parametrize(
    "raw",
    [
        b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
        b"G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /#x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\r\n\r\n",
        HEAD + b"Host: a\r\n\r\n",
        HEAD + b"X-A : 1\r\n\r\n",
        HEAD + b"X-A: 1\r\n 2\r\n\r\n",
        HEAD + b"X-A: a\nb\r\n\r\n",
        HEAD + b"X-A: a\x0bb\r\n\r\n",
        HEAD + b"Content-Length: +2\r\n\r\n{}",
        HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        HEAD + b"Content_Length: 2\r\n\r\n{}",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;x\r\n{}\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}}}0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-T: 1\r\n\r\n",
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(raw: bytes) -> None:
    with pytest.raises(AmbiguousError):
        read(raw)
