"""What tests of vectors in the database may ask for beside the server of all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.postgres import Server, Shared, migrated, programs, running


@pytest.fixture(scope="session")
def vector_server() -> Iterator[Server]:
    """A private server that has pgvector; without one the test is skipped by name."""
    bin_ = programs("vector")
    if bin_ is None:
        pytest.skip("no PostgreSQL server with pgvector here: scripts/fetch_pgvector.sh")
    with running(bin_) as server:
        yield server


@pytest.fixture(scope="session")
def _migrated_there(vector_server: Server) -> str:
    return migrated(vector_server)


@pytest.fixture
def able(vector_server: Server, _migrated_there: str) -> Shared:
    """A database with our tables on a server that has pgvector; the extension is not made yet."""
    return Shared(vector_server, vector_server.database(template=_migrated_there))
