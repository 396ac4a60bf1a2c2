"""One upstream per module for the commands that call one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support import fixtures
from support.certs import Certs
from support.home import GhostHome, ghost_home
from support.upstream import Upstream

ACTIONS = {
    "echo": {"method": "POST", "path": "/echo", "params": "json"},
    "read": {"method": "GET", "path": "/echo", "params": "query"},
    "close": {"method": "POST", "path": "/close", "params": "json"},
    "slow": {"method": "POST", "path": "/slow", "params": "json"},
    "wait": {"method": "POST", "path": "/slow", "params": "query"},
    "leak": {"method": "POST", "path": "/echo-header", "params": "json"},
}

up = fixtures.upstream("module")
place = fixtures.home("module")


@pytest.fixture
def lone(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[GhostHome]:
    """A home of this test alone, whose tool has declared actions."""
    with ghost_home(tmp_path, up, certs, tools={"demo_api": {"actions": ACTIONS}}) as made:
        yield made
