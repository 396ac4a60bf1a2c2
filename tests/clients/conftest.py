"""One upstream and one possess for every client; each test has a session and its environment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.certs import Certs
from support.client import Client
from support.home import GhostHome, ghost_home
from support.processes import possess
from support.shell import block, spawn
from support.upstream import Upstream


@pytest.fixture(scope="session")
def up(certs: Certs) -> Iterator[Upstream]:
    """A recording upstream over TLS that no client trusts by itself."""
    with Upstream(certs) as upstream:
        yield upstream


@pytest.fixture(scope="session")
def place(
    tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream
) -> Iterator[GhostHome]:
    """A home with a running possess."""
    with ghost_home(tmp_path_factory.mktemp("clients"), up, certs) as home, possess(home):
        yield home


@pytest.fixture
def client(place: GhostHome, up: Upstream) -> Client:
    """A session of this test, and what `possess --env` tells its clients."""
    session = spawn(place, "demo_api")
    return Client(place, session, block(place, session), up, len(up.requests))
