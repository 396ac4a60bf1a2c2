"""Charsets whose letters are not those of ASCII are known, and no others."""

from __future__ import annotations

import pytest

from ghost_credentials.charset import hides


@pytest.mark.parametrize(
    "name", ["IBM037", "cp500", '"ibm-1047"', "x-IBM930", "UTF-7", "scsu", "EBCDIC-US"]
)
def test_what_writes_letters_in_other_bytes_is_known(name: str) -> None:
    assert hides(b"text/plain; Charset=" + name.encode())


@pytest.mark.parametrize(
    "name",
    [
        "utf-8",
        "UTF8",
        "utf-8-sig",
        "iso-8859-1",
        "windows-1252",
        "cp437",
        "ibm866",
        "shift_jis",
        "gb18030",
        "iso-2022-jp",
        "utf-16",
        "UTF-16LE",
        "utf-32be",
        "utf8mb4",
        "binary",
        "x" * 999,
        "\0",
    ],
)
def test_what_is_searched_or_no_charset_is_not(name: str) -> None:
    assert not hides(b"text/plain;charset=" + name.encode())


def test_of_several_one_is_enough() -> None:
    assert hides(b"text/plain; charset=utf-8; charset=cp500")
    assert not hides(b"application/json")
