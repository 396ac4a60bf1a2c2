"""One index for the tests of a module, empty for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ghost_cli.upgrade.fetching import Fetcher
from support.certs import Certs
from support.index import PackageIndex


@pytest.fixture(scope="module")
def _served(certs: Certs) -> Iterator[PackageIndex]:
    with PackageIndex(certs) as made:
        yield made


@pytest.fixture
def index(_served: PackageIndex, monkeypatch: pytest.MonkeyPatch) -> PackageIndex:
    """Return the index, on which nothing is offered yet."""
    monkeypatch.setenv("no_proxy", "localhost")
    _served.clear()
    return _served


@pytest.fixture
def fetcher(certs: Certs) -> Fetcher:
    """Return what trusts that index."""
    return Fetcher(certs.ca, seconds=5)
