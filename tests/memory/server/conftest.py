"""A service over the memory of the test, and a client that calls its tools."""

from __future__ import annotations

import pytest

from ghost_memory.server.service import Service
from support.mcp import Calls, service_on
from support.memory import Store


@pytest.fixture
def service(memory: Store) -> Service:
    """Return the service over this test's memory."""
    return service_on(memory)


@pytest.fixture
def call(service: Service) -> Calls:
    """Return what calls its tools."""
    return Calls(service)
