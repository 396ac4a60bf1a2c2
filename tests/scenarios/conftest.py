"""One upstream for each scenario."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.certs import Certs
from support.upstream import Upstream


@pytest.fixture
def up(certs: Certs) -> Iterator[Upstream]:
    """A recording upstream over TLS."""
    with Upstream(certs) as upstream:
        yield upstream
