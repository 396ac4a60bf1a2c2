"""One upstream and one proxy for each test of this room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.certs import Certs, make_certs
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Certs:
    """The test authority and its leaves, made once."""
    return make_certs(tmp_path_factory.mktemp("certs"))


@pytest.fixture
def up(certs: Certs) -> Iterator[Upstream]:
    """A recording upstream over TLS."""
    with Upstream(certs) as upstream:
        yield upstream


@pytest.fixture
def proxy(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    """A live proxy for the upstream."""
    with live_proxy(tmp_path, certs, up) as live:
        yield live


@pytest.fixture
def session(proxy: LiveProxy) -> LiveSession:
    """A session that may do anything at the upstream's tool."""
    return proxy.spawn("demo_api")
