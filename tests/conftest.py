"""Every test has a home and a runtime folder of its own, no settings from outside, loopback only."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import logging
import os
import secrets
import shutil
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import HealthCheck, settings

from ghost_cli import output
from ghost_cli.output import Options
from support import fixtures
from support.certs import Certs, make_certs
from support.postgres import Server, Shared, migrated, programs, running

if TYPE_CHECKING:
    from collections.abc import Iterator

BY_NAME = ("hosts", "conformance")
"""Folders of tests that fetch programs of others: only who names one runs it."""

LONG = ("docs", "cli", "clients", "postgres", "scenarios", "attacks", "fuzz", "memory")
"""Folders of tests that mostly start programs: first, so that no worker is left alone with one at the end."""

FAILED = pytest.StashKey[bool]()
_numbers = itertools.count()


@pytest.hookimpl(trylast=True)  # after they were shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of the long folders first."""
    items.sort(key=lambda item: item.nodeid.split("/")[1] not in LONG)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is run by a command of its own."""
    if collection_path.parent.name != "tests" or collection_path.name not in BY_NAME:
        return None
    named = any(collection_path.name in Path(each).parts for each in config.args)
    return None if named else True


settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# A job that a shell puts in the background ignores these, and its children would inherit that.
for _number in (signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Leave what was loaded for all tests out of every later search for garbage: it is most of the heap."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Certs:
    """The test authority and its leaves, made once."""
    return make_certs(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A private PostgreSQL server; without its programs the test is skipped by name."""
    bin_ = programs()
    if bin_ is None:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql")
    with running(bin_) as server:
        yield server


@pytest.fixture(scope="session")
def _migrated(postgres: Server) -> str:
    return migrated(postgres)


@pytest.fixture
def shared(postgres: Server, _migrated: str) -> Shared:
    """A database of this test on that server, with our tables."""
    return Shared(postgres, postgres.database(template=_migrated))


@pytest.fixture
def bare(postgres: Server) -> Shared:
    """An empty database of this test on that server."""
    return Shared(postgres, postgres.database())


# Of each test alone, unless its room shares one.
up = fixtures.upstream("function")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    """Remember which tests failed: their folders are kept."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def own_folder(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """All that this test writes. pytest's own would look through all folders so far for each new one."""
    folder = tmp_path_factory.getbasetemp() / str(next(_numbers))
    folder.mkdir(mode=0o700)
    yield folder
    if not request.node.stash.get(FAILED, False):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tmp_path(own_folder: Path) -> Path:
    """Return an empty folder."""
    path = own_folder / "tmp"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(autouse=True)
def home(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of this test, not yet created; no variable of ours comes from outside."""
    for name in [each for each in os.environ if each.startswith("GHOST_") or each == "COLUMNS"]:
        monkeypatch.delenv(name)
    runtime = own_folder / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("GHOST_HOME", str(own_folder / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    return own_folder / "home"


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that would leave this machine."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded(self: socket.socket, address: object) -> None:
        _refuse_foreign(self, address)
        connect(self, address)  # type: ignore[arg-type]

    def guarded_ex(self: socket.socket, address: object) -> int:
        _refuse_foreign(self, address)
        return connect_ex(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_ex)


@pytest.fixture(autouse=True, scope="module")
def _leaks_are_blamed_here() -> Iterator[None]:
    """Collect before the next module starts, so that a socket left open fails the one that left it."""
    yield
    gc.collect()
    gc.freeze()  # what is still there is here to stay, and need not be looked at after each module


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    """Undo what a command did to logging and to its flags, so that tests do not hear each other."""
    output.choose(Options())
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers, root.level = before, level
    for name in ("ghost.settings", "ghost.ledger"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True


def _refuse_foreign(connection: socket.socket, address: object) -> None:
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = str(address[0]) if isinstance(address, tuple) else ""
    if host == "localhost":
        return
    try:
        local = ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        local = False
    if not local:
        raise AssertionError(f"a test tried to reach {host!r}; only loopback is allowed")


@pytest.fixture
def short() -> Iterator[Path]:
    """Return a new folder whose whole path has nine characters, as /app and /repo are short."""
    folder = Path("/tmp") / secrets.token_hex(2)
    folder.mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder)
