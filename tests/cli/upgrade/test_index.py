"""The newest wheel of an index, and that one checked."""

from __future__ import annotations

import json

import pytest

from ghost_cli.upgrade.fetching import Fetcher
from ghost_cli.upgrade.index import download, newest
from ghost_core.errors import IntegrityError, NotFoundError, UnavailableError
from support.index import FORM, PAGE, PackageIndex, wheel


def test_the_newest_release_is_found_and_downloaded(index: PackageIndex, fetcher: Fetcher) -> None:
    data = {version: index.offer(version) for version in ("0.9", "0.10.1", "0.10")}
    for address in (index.url, index.url.rstrip("/")):
        found = newest(fetcher, address)
        assert (found.version, found.name) == ("0.10.1", "ghost_ledger-0.10.1-py3-none-any.whl")
    assert index.asked[0] == (PAGE, FORM)
    assert download(fetcher, found) == data["0.10.1"]


@pytest.mark.parametrize(
    "fields",
    [
        {"yanked": "broken"},
        {"yanked": True},
        {"requires-python": ">=3.99"},
        {"hashes": {}},
        {"hashes": None},
        {"hashes": {"sha256": "0" * 63}},
        {"hashes": {"md5": "0" * 32}},
        {"url": None},
        {"url": 7},
        {"filename": "ghost_ledger-9.9-cp312-cp312-linux_x86_64.whl"},
        {"filename": "ghost_ledger-9.9.tar.gz"},
        {"filename": "other-9.9-py3-none-any.whl"},
        {"filename": "ghost_ledger-9.9rc1-py3-none-any.whl"},
        {"filename": "ghost_ledger-../9.9-py3-none-any.whl"},
        {"filename": None},
    ],
    ids=str,
)
def test_what_cannot_be_used_is_passed_over(
    index: PackageIndex, fetcher: Fetcher, fields: dict[str, object]
) -> None:
    index.offer("9.9", **fields)
    index.files.append("nonsense")
    with pytest.raises(NotFoundError):
        newest(fetcher, index.url)
    index.offer("0.2", **{"requires-python": ">=3.12", "yanked": False})
    assert newest(fetcher, index.url).version == "0.2"


@pytest.mark.parametrize(
    "page",
    [
        b"<html>",
        b"",
        b"[" * 100_000,
        b"[]",
        b"{}",
        json.dumps({"meta": {"api-version": "2.0"}, "files": []}).encode(),
        json.dumps({"meta": [], "files": []}).encode(),
    ],
    ids=["html", "nothing", "deep", "list", "empty", "version", "meta"],
)
def test_another_kind_of_index_is_told(index: PackageIndex, fetcher: Fetcher, page: bytes) -> None:
    index.answers[PAGE] = (200, {}, page)
    with pytest.raises(UnavailableError, match="JSON form"):
        newest(fetcher, index.url)


def test_an_index_without_it_has_none(index: PackageIndex, fetcher: Fetcher) -> None:
    with pytest.raises(NotFoundError):
        newest(fetcher, index.url)
    index.answers[PAGE] = (
        200,
        {},
        json.dumps({"meta": {"api-version": "1.0"}, "files": 7}).encode(),
    )
    with pytest.raises(NotFoundError):
        newest(fetcher, index.url)


def test_a_wheel_that_hashes_to_something_else_is_refused(
    index: PackageIndex, fetcher: Fetcher
) -> None:
    index.offer("0.2", hashes={"sha256": "0" * 64})
    with pytest.raises(IntegrityError, match="expected sha256 0000") as caught:
        download(fetcher, newest(fetcher, index.url))
    assert (caught.value.code, caught.value.exit_code) == ("upgrade.checksum", 7)


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense",
        wheel("0.1"),
        wheel("9.9", inside="0.1"),
        wheel("9.9", name="other"),
        wheel("9.9")[:-30],
    ],
    ids=["bytes", "older", "older-inside", "other", "cut"],
)
def test_a_wheel_that_is_something_else_inside_is_refused(
    index: PackageIndex, fetcher: Fetcher, data: bytes
) -> None:
    index.offer("9.9", data)
    with pytest.raises(IntegrityError) as caught:
        download(fetcher, newest(fetcher, index.url))
    assert caught.value.code == "upgrade.wheel"
