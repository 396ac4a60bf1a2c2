"""GET over https."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ghost_cli.upgrade.fetching import Fetcher, place, require_https
from ghost_core.errors import ConfigError, GhostError, NotFoundError, UnavailableError
from support.index import PackageIndex

PATH = "/page"


def fails(fetcher: Fetcher, url: str, *, seconds: float = 5) -> GhostError:
    with pytest.raises(GhostError) as caught:
        fetcher.get(url, limit=1000, seconds=seconds)
    return caught.value


def test_a_body_is_read(index: PackageIndex, fetcher: Fetcher) -> None:
    index.answers[PATH] = (200, {}, b"x" * 1000)
    assert fetcher.get(index.base + PATH, limit=1000, seconds=5, accept="a/b") == b"x" * 1000
    assert index.asked == [(PATH, "a/b")]


def test_a_redirect_is_followed_over_https_only(index: PackageIndex, fetcher: Fetcher) -> None:
    index.answers["/moved"] = (302, {"Location": PATH}, b"")
    index.answers["/down"] = (302, {"Location": "http://localhost/page"}, b"")
    index.answers[PATH] = (200, {}, b"here")
    assert fetcher.get(f"{index.base}/moved", limit=1000, seconds=5) == b"here"
    assert fails(fetcher, f"{index.base}/down").code == "upgrade.plain"


def test_what_is_missing_too_large_or_broken_is_told(index: PackageIndex, fetcher: Fetcher) -> None:
    index.answers["/large"] = (200, {}, b"x" * 1001)
    index.answers["/broken"] = (500, {}, b"")
    index.answers["/short"] = (200, {"Content-Length": "9"}, b"x")
    assert isinstance(fails(fetcher, f"{index.base}/none"), NotFoundError)
    assert fails(fetcher, f"{index.base}/large").code == "upgrade.size"
    assert "answers 500" in fails(fetcher, f"{index.base}/broken").message


def test_an_end_in_time_is_kept(index: PackageIndex, certs: object) -> None:
    clock = iter(range(100))
    slow = Fetcher(certs.ca, now=lambda: float(next(clock)))  # type: ignore[attr-defined]
    index.answers[PATH] = (200, {}, b"x")
    assert "did not end in time" in fails(slow, index.base + PATH, seconds=0.5).message


def test_without_a_network_it_is_said_and_exit_4(
    fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("no_proxy", "localhost,unknown.invalid")
    error = fails(fetcher, f"https://localhost:{port}/simple/")
    assert (error.code, error.exit_code) == ("upgrade.network", 4)
    assert "Connection refused" in error.message
    assert fails(fetcher, "https://unknown.invalid/simple/").code == "upgrade.network"


def test_a_server_that_says_nothing_is_not_waited_for(certs: object) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        error = fails(Fetcher(certs.ca, seconds=0.1), url)  # type: ignore[attr-defined]
    assert error.code == "upgrade.network"


def test_a_certificate_that_nobody_vouches_for_is_refused(index: PackageIndex) -> None:
    error = fails(Fetcher(), index.base + PATH)
    assert "its certificate is not trusted" in error.message
    assert index.asked == []


def test_roots_that_cannot_be_read_are_a_mistake_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        Fetcher(tmp_path / "none.pem").get("https://localhost/", limit=1, seconds=1)


@pytest.mark.parametrize(
    "url", ["", "http://host/", "file:///etc/hosts", "https://", "https://[x/", "ftp://h"]
)
def test_what_is_no_https_address_is_refused(url: str) -> None:
    with pytest.raises(UnavailableError, match="expected an https address"):
        require_https(url)


def test_a_place_names_no_password() -> None:
    assert place("https://me:word@host:8/simple/?token=abc") == "'https://host:8/simple/'"
    assert "word" not in place("https://me:word@host:99999999/x")
