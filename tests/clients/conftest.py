"""One upstream and one possess for every client; each test has a session and its environment."""

from __future__ import annotations

import pytest

from support import fixtures
from support.client import Client
from support.home import GhostHome
from support.shell import block, spawn
from support.upstream import Upstream

up = fixtures.upstream("session")
place = fixtures.home("session", possessed=True)


@pytest.fixture
def client(place: GhostHome, up: Upstream) -> Client:
    """A session of this test, and what `possess --env` tells its clients."""
    session = spawn(place, "demo_api")
    return Client(place, session, block(place, session), up, len(up.requests))
