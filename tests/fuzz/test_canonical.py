"""Hosts and paths have one spelling, and no reader of a URL finds another place in what was accepted."""

from __future__ import annotations

import ipaddress
import posixpath
import re
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

import pytest
from hypothesis import strategies as st

from ghost_addons.authority import place_of
from ghost_core.errors import ConfigError, DeniedError
from ghost_credentials.binding import HostPattern
from ghost_hooks.host import canonical_host, is_address
from ghost_hooks.path import canonical_path, canonical_query, readings
from ghost_hooks.target import Target
from support.fuzzing import fuzz

HOST_PIECES = [
    "a", "api", "example", "com", ".", "..", "-", "_", "xn--", "xn--mnchen-3ya", "1", "127", "0", "0x7f", "017", ":", "::", "[", "]",
    "A", "%", "%41", "@", "/", "\\", "#", "?", " ", "\t", "\u3002", "\uff0e", "\u0130", "\u212a", "\xdf", "\xad", "\u200b", "\u0660", "443", "*", "\x00", "e", "1e3", "\xe9",
]  # fmt: skip
PATH_PIECES = [
    "/", "//", ".", "..", "a", "B", "%2f", "%2F", "%2e", "%5c", "\\", "%25", "2e", "2f", "%41", "%61", ";", "%3b", "%3B", "%00", "%20", "+", "?", "#",
    " ", "\t", "\xe9", "%c3%a9", "%C3", "%c0%ae", "%e2%80%ae", "\u2024", "\uff0e", "\uff0f", "%ef%bc%8f", "%u002e", "%", "~", "%7E", ":", "@", "&", "=", "\x7f", "\ud800",
]  # fmt: skip


def pieces(known: list[str], size: int) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(st.sampled_from(known), max_size=size).map("".join), st.text(max_size=size)
    )


def whatwg_path(path: str) -> str:
    """Return the path as the URL Standard's parser leaves it (§4.4, path state, special schemes)."""
    out: list[str] = []
    segments = re.split(r"[/\\]", path)[1:]
    for number, segment in enumerate(segments):
        plain = segment.lower().replace("%2e", ".")
        last = number == len(segments) - 1
        if plain == "..":
            out = out[:-1]
        if plain in {".", ".."}:
            out += [""] if last else []
        else:
            out.append(segment)
    return "/" + "/".join(out)


def whatwg_host(host: str) -> str:
    """Return an ASCII host as the URL Standard's parser reads it (§3.5), IPv4 numbers included."""
    host = host.lower()
    last = host.removesuffix(".").rpartition(".")[2]
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last):
        numbers = [_number(part) for part in host.removesuffix(".").split(".")]
        value = (
            sum(each * 256 ** (3 - index) for index, each in enumerate(numbers[:-1])) + numbers[-1]
        )
        return str(ipaddress.IPv4Address(value))
    return host


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)


def test_an_accepted_host_has_one_spelling_and_one_reading() -> None:
    def check(text: str) -> None:
        try:
            host = canonical_host(text)
        except DeniedError as error:
            assert error.code == "target.host"
            return
        assert canonical_host(host) == host == host.lower()
        assert canonical_host(host.upper()) == host
        if ":" in host:
            assert urlsplit(f"https://[{host}]:8443/").hostname == host
            assert str(ipaddress.IPv6Address(host)) == host
            return
        parts = urlsplit(f"https://{text}:8443/")
        assert (parts.hostname or "").removesuffix(".") == host
        assert (parts.username, parts.port) == (None, 8443)
        assert canonical_host(f"{host}.") == host
        assert whatwg_host(host) == host
        assert is_address(host) == bool(re.fullmatch(r"[0-9.]+", host))
        assert place_of(f"{text}:8443", scheme="https") == (host, 8443)

    fuzz(check, pieces(HOST_PIECES, 10), examples=400, share=0.025)


def test_a_pattern_of_a_credential_holds_the_host_that_it_spells_and_no_other() -> None:
    def check(texts: tuple[str, str]) -> None:
        spelled, asked = texts
        try:
            pattern = HostPattern.parse(spelled, credential="c")
        except ConfigError:
            return
        try:
            host, port = place_of(asked, scheme="https")
        except DeniedError:
            return
        star = spelled.startswith("*.")
        place = place_of(spelled.removeprefix("*."), scheme="https")
        below = host.partition(".")[2] if star else host
        assert pattern.holds(host, port) == ((below, port) == place)

    one = pieces(
        ["a", "b.a", "*.", "a.b", ".", "127.0.0.1", "[::1]", ":443", ":8443", "A", "-", "_"], 4
    )
    fuzz(
        check,
        st.one_of(st.tuples(one, one), one.map(lambda text: (text, text))),
        examples=400,
        share=0.025,
    )


def test_an_accepted_path_has_one_spelling_and_one_reading() -> None:
    def check(tail: str) -> None:
        try:
            path = canonical_path("/" + tail)
        except DeniedError as error:
            assert error.code == "target.path"
            return
        assert canonical_path(path) == path
        assert re.fullmatch(r"/[!-~]*", path)
        assert whatwg_path(path) == path
        assert urlsplit(f"https://h{path}").path == path
        if ";" not in path:  # it drops empty parameters
            assert urlsplit(urljoin("https://h/base/", path)).path == path
        for seen in readings(path):
            bare = "/".join(part.partition(";")[0] for part in seen.split("/"))
            for name in (seen, bare):
                merged = re.sub("//+", "/", name)
                assert posixpath.normpath(merged) == (merged.rstrip("/") or "/")
                assert not re.search(r"[\\\x00-\x1f\x7f]", name)

    fuzz(check, pieces(PATH_PIECES, 10), examples=600, share=0.025)


def test_paths_that_differ_in_escapes_only_are_one_path() -> None:
    def check(drawn: tuple[str, list[bool]]) -> None:
        tail, escaped = drawn
        try:
            path = canonical_path("/" + tail)
        except DeniedError:
            return
        letters = [*tail]
        for index, flag in enumerate(escaped[: len(letters)]):
            if flag and re.fullmatch(r"[A-Za-z0-9~_-]", letters[index]):
                letters[index] = f"%{ord(letters[index]):02x}"
        if "%" not in tail:  # else an escape could be cut in two
            assert canonical_path("/" + "".join(letters)) == path

    words = st.text(alphabet="abZ09-_~/.;:@+", max_size=12)
    fuzz(check, st.tuples(words, st.lists(st.booleans(), max_size=12)), examples=200, share=0.025)


def test_an_accepted_query_has_one_spelling() -> None:
    def check(text: str) -> None:
        try:
            query = canonical_query(text)
        except DeniedError as error:
            assert error.code == "target.query"
            return
        assert canonical_query(query) == query
        assert re.fullmatch(r"[!-~]*", query)
        assert unquote_to_bytes(query) == unquote_to_bytes(text)
        assert urlsplit(f"https://h/?{query}").query == query

    fuzz(check, pieces(PATH_PIECES, 10), examples=300, share=0.025)


def test_an_accepted_url_is_read_alike_by_others() -> None:
    def check(url: str) -> None:
        try:
            target = Target.parse(url)
        except DeniedError:
            return
        assert Target.parse(target.url) == target
        parts = urlsplit(target.url)
        assert parts.hostname == target.host
        assert parts.port in {target.port, None}
        assert (parts.path, parts.query) == (target.path, target.query)
        assert parts.username is parts.password is None
        assert not parts.fragment

    url = st.tuples(
        st.sampled_from(["https://", "http://", "HTTPS://", "https:/", "https:\\\\", "ftp://"]),
        pieces(HOST_PIECES, 5),
        pieces(PATH_PIECES, 6),
    ).map("".join)
    fuzz(check, url, examples=400, share=0.025)


@pytest.mark.parametrize(
    "raw", ["/%EF%BC%8E%EF%BC%8E/admin", "/a%E2%80%A4%E2%80%A4/b", "/%E2%84%AA"]
)
def test_letters_that_only_look_like_dots_stay_escaped(raw: str) -> None:
    assert canonical_path(raw) == raw
