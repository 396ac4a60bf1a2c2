"""Shorter parts answer as the engine's own did, and replace only what is as it was read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http, options
from mitmproxy.connection import Client
from mitmproxy.proxy.context import Context

from ghost_addons import seams

NAMES = st.sampled_from([b"Host", b"host", b"X-A", b"x-a", b"Content-Length"])
LINES = st.lists(st.tuples(NAMES, st.binary(max_size=8)), max_size=6)


@pytest.fixture(autouse=True)
def _installed() -> None:
    seams.install()


def test_every_part_of_the_installed_engine_is_the_one_that_was_read() -> None:
    assert seams.install() == ()
    assert http.Headers.get is not Mapping.get


def test_a_function_that_changed_is_another_one() -> None:
    assert not seams.known(Context.__init__, "0" * 16)


def test_a_function_without_source_is_another_one() -> None:
    assert not seams.known(len, "0" * 16)


def test_a_part_that_changed_is_left_as_it_is_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = Context.__repr__
    part = (Context, "__repr__", "0" * 16, lambda _: "")
    monkeypatch.setattr(seams, "_PARTS", (part,))
    assert seams.install() == ("Context.__repr__",)
    assert Context.__repr__ is theirs


@given(LINES, NAMES)
def test_headers_are_found_in_any_case_and_in_order(
    lines: list[tuple[bytes, bytes]], name: bytes
) -> None:
    headers = http.Headers(lines)
    expected = [
        value.decode("utf-8", "surrogateescape")
        for found, value in lines
        if found.lower() == name.lower()
    ]
    assert headers.get_all(name) == headers.get_all(name.decode()) == expected
    assert headers.get(name) == (", ".join(expected) if expected else None)
    assert (name in headers) == (name.decode() in headers) == bool(expected)


def test_a_header_that_is_not_there_has_the_default() -> None:
    assert http.Headers([(b"a", b"1")]).get("b", "") == ""
    assert 7 not in http.Headers([(b"a", b"1")])


def test_headers_are_still_lines_of_bytes() -> None:
    with pytest.raises(TypeError):
        http.Headers([("host", "a")])  # type: ignore[list-item]


def test_headers_by_name_are_made_as_before() -> None:
    assert http.Headers(content_type="a/b").fields == ((b"content-type", b"a/b"),)


def test_a_fork_shares_the_connections_and_not_the_layers() -> None:
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), timestamp_start=0)
    parent = Context(client, options.Options())
    fork = parent.fork()
    fork.layers.append(object())  # type: ignore[arg-type]
    assert (fork.client, fork.server, fork.options) == (client, parent.server, parent.options)
    assert parent.layers == []


def test_options_answer_the_same_when_they_are_kept() -> None:
    found = options.Options()
    found.add_option("websocket", bool, True, "")
    seams.freeze(found)
    assert found.websocket is True
    assert vars(found)["websocket"] is True
