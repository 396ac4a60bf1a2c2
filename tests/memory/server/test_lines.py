from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCNotification, JSONRPCRequest

from ghost_memory.server.lines import NO_MESSAGE, NOT_JSON, Oversized, Refused, lines, read, refusal


def cut(data: bytes, *, limit: int = 100, step: int = 7) -> list[bytes | Oversized]:
    stream = io.BytesIO(data)
    return list(lines(lambda _: stream.read(step), limit=limit))


@given(
    st.lists(st.binary(max_size=80).map(lambda data: data.replace(b"\n", b""))), st.integers(1, 50)
)
def test_lines_come_out_as_they_went_in(texts: list[bytes], step: int) -> None:
    assert cut(b"".join(text + b"\n" for text in texts), step=step) == texts


def test_a_last_line_without_its_end_counts() -> None:
    assert cut(b"one\ntwo") == [b"one", b"two"]


@given(st.integers(101, 3000), st.integers(1, 700))
def test_of_a_line_that_is_too_long_only_the_ends_are_kept(size: int, step: int) -> None:
    line = (b"0123456789" * 300)[:size]
    found = cut(line + b"\nnext\n", step=step)
    assert found[1:] == [b"next"]
    assert isinstance(found[0], Oversized)
    assert line.startswith(found[0].head)
    assert line.endswith(found[0].tail)
    assert len(found[0].head) + len(found[0].tail) <= 1024


def only(line: bytes) -> object:
    (found,) = read(line)
    return found


def test_a_message_is_read() -> None:
    found = only('{"jsonrpc":"2.0","id":"a","method":"m","params":{"t":"żółw"}}'.encode())
    assert isinstance(found, JSONRPCRequest)
    assert found.params == {"t": "żółw"}
    assert isinstance(only(b'{"jsonrpc":"2.0","method":"m"}'), JSONRPCNotification)


@pytest.mark.parametrize("line", [b"garbage", b"{", b'{"a":', b"\xff\xfe", b"[" * 100_000, b"'x'"])
def test_what_is_no_json_is_a_parse_error(line: bytes) -> None:
    found = only(line)
    assert isinstance(found, Refused)
    assert (found.id, found.code) == (None, NOT_JSON)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"id":5}', 5),
        (b'{"jsonrpc":"1.0","id":"x","method":"m"}', "x"),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', 7),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', None),
        (b"[]", None),
        (b"5", None),
        (b'"text"', None),
        (b"null", None),
        (b'{"jsonrpc":"2.0","id":9,"method":"m","params":"x"}', 9),
        (
            b'{"jsonrpc":"2.0","id":9,"method":"m","params":{"a":'
            + b"[" * 500
            + b"]" * 500
            + b"}}",
            9,
        ),
    ],
)
def test_json_that_is_no_message_is_refused_with_the_id_that_it_has(
    line: bytes, number: object
) -> None:
    found = only(line)
    if isinstance(found, JSONRPCRequest):  # deep, but not too deep for a strict reader
        assert found.id == number
        return
    assert isinstance(found, Refused)
    assert (found.id, found.code) == (number, NO_MESSAGE)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"a\\ud800b"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"a\xffb"}}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"m","params":{"t":"a"}}',
    ],
)
def test_text_that_no_store_can_hold_is_mended(line: bytes) -> None:
    found = only(line)
    assert isinstance(found, JSONRPCRequest)
    assert found.id == 1
    assert found.model_dump_json().encode()


def test_the_messages_of_a_batch_are_read_one_by_one() -> None:
    found = read(b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"id":2},5]')
    assert [type(each).__name__ for each in found] == ["JSONRPCRequest", "Refused", "Refused"]


def test_a_blank_line_is_no_message_and_no_mistake() -> None:
    assert read(b"") == read(b"  \r") == []


@pytest.mark.parametrize(
    ("head", "tail", "number"),
    [
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x', b'x"}}', 5),
        (b'{"id": "a-1", "jsonrpc":"2.0","method":"t', b'x"}}', "a-1"),
        (b'{"method":"tools/call","params":{"x', b'"},"jsonrpc":"2.0","id":7}', 7),
        (b'{"method":"tools/call","params":{"id":4,"x', b"x", None),
        (b"xxxx", b"xxxx", None),
    ],
)
def test_a_line_that_is_too_long_is_refused_with_the_id_that_shows(
    head: bytes, tail: bytes, number: object
) -> None:
    (found,) = read(Oversized(head, tail))
    assert isinstance(found, Refused)
    assert (found.id, found.code) == (number, NO_MESSAGE)


@given(st.binary(max_size=200))
def test_any_line_is_messages_or_refused(line: bytes) -> None:
    for found in read(line):
        if isinstance(found, Refused):
            assert json.loads(refusal(found))["error"]["code"] == found.code


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_any_json_is_messages_or_refused(document: object) -> None:
    assert all(found is not None for found in read(json.dumps(document).encode()))
