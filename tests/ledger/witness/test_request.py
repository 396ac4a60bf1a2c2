"""The add-checkpoint request: one form, nothing else."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger.witness.request import REQUEST_LIMIT, decode_request, encode_request
from support.bundles import ORIGIN, Log

NOTE = Log().session().finish().log.head()
HASH = base64.b64encode(b"h" * 32)


def body(before: bytes, note: bytes = NOTE) -> bytes:
    return before + b"\n" + note


def test_a_request_is_read_as_it_was_written():
    proof = (b"a" * 32, b"b" * 32)
    made = encode_request(2, proof, NOTE)
    assert (
        made
        == b"old 2\n" + b"".join(base64.b64encode(each) + b"\n" for each in proof) + b"\n" + NOTE
    )
    asked = decode_request(made)
    assert (asked.old, asked.proof, asked.note) == (2, proof, NOTE)
    assert (asked.head.origin, asked.head.size) == (ORIGIN, 3)
    assert asked.text == NOTE.partition(b"\n\n")[0] + b"\n"


def test_without_a_proof():
    assert decode_request(body(b"old 0\n")).proof == ()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        NOTE,
        body(b""),
        body(b"old\n"),
        body(b"old \n"),
        body(b"old 00\n"),
        body(b"old 01\n"),
        body(b"old -1\n"),
        body(b"old +1\n"),
        body(b"old 1 \n"),
        body(b"old  1\n"),
        body(b"Old 1\n"),
        body(b"old 1\r\n"),
        body(b"old \xd9\xa1\n"),
        body(b"old 9007199254740992\n"),
        body(b"old 1\n" + HASH[:-1] + b"\n"),
        body(b"old 1\n" + base64.b64encode(b"h" * 31) + b"\n"),
        body(b"old 1\n" + base64.b64encode(b"h" * 33) + b"\n"),
        body(b"old 1\n " + HASH + b"\n"),
        body(b"old 1\n" + (HASH + b"\n") * 64),
        body(b"old 1\n", b""),
        body(b"old 1\n", NOTE[:-1]),
        body(b"old 1\n", NOTE.replace(b"\n3\n", b"\n3\nextension\n")),
        body(b"old 1\n", NOTE.replace(b"\n3\n", b"\n03\n")),
        body(b"old 1\n" + b"x" * REQUEST_LIMIT),
    ],
    ids=range(26),
)
def test_everything_else_is_refused(data: bytes):
    with pytest.raises(IntegrityError):
        decode_request(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes):
    for each in (data, body(b"old 1\n" + data), body(b"old 1\n", data)):
        try:
            asked = decode_request(each)
        except IntegrityError:
            continue
        assert encode_request(asked.old, asked.proof, asked.note) == each
