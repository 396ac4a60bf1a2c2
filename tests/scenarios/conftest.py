"""The battery: every test is a variant of a scenario, and `make attack` ends with the table of all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from support.board import Board, Sight, Variant
from support.certs import Certs
from support.home import Toml
from support.live import LiveProxy, live_proxy
from support.scene import Scene, played
from support.upstream import Upstream

NAMES = ("localhost", "127.0.0.1", "::1", "api.test", "foreign.test")
BOARD = pytest.StashKey[Board]()
SIGHT = pytest.StashKey[Sight]()
OUTCOMES = pytest.StashKey[list[str]]()

type Staged = Callable[..., AbstractContextManager[Scene]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the table as a file."""
    parser.addoption("--scenarios", metavar="FILE", help="write the table of scenarios as Markdown")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BOARD] = Board()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse a test here that is no scenario, and two that disagree about one."""
    for item in items:
        if item.path.parent != Path(__file__).parent:
            continue
        mark = item.get_closest_marker("scenario")
        if mark is None:
            raise pytest.UsageError(f"{item.nodeid}: expected a scenario")
        try:
            config.stash[BOARD].open(*mark.args)
        except ValueError as error:
            raise pytest.UsageError(f"{item.nodeid}: {error}") from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put a variant on the board once its fixtures have told what they saw."""
    report = yield
    outcomes = item.stash.setdefault(OUTCOMES, [])
    outcomes.append(report.outcome)
    mark = item.get_closest_marker("scenario")
    if report.when == "teardown" and mark is not None:
        worst = next((each for each in ("failed", "skipped") if each in outcomes), "passed")
        sight = item.stash.get(SIGHT, Sight())
        item.config.stash[BOARD].open(*mark.args).variants.append(Variant(worst, sight))
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table where it was asked for: by `--scenarios`, or by running nothing but attacks."""
    board = config.stash[BOARD]
    file = config.getoption("--scenarios", default=None)
    if file:
        Path(file).write_text(board.markdown(), encoding="utf-8")
    if board.tried and any("scenarios" in str(each) for each in config.args):
        terminalreporter.section("scenarios")
        terminalreporter.write_line(board.text())


@pytest.fixture
def sight(request: pytest.FixtureRequest) -> Sight:
    """What the witnesses of this variant saw; for tests that drive no scene."""
    seen: Sight = request.node.stash.setdefault(SIGHT, Sight())
    return seen


@pytest.fixture(scope="module")
def up(certs: Certs) -> Iterator[Upstream]:
    """The upstream to which the credential is bound; it keeps every byte."""
    with Upstream(certs, names=NAMES) as upstream:
        yield upstream


@pytest.fixture(scope="module")
def foreign(certs: Certs) -> Iterator[Upstream]:
    """An upstream of somebody else, with a certificate for every name."""
    with Upstream(certs, names=NAMES) as upstream:
        yield upstream


class House:
    """The one proxy that a process can run at a time: shared by scenes, or of one scene alone."""

    def __init__(self, opened: Callable[..., AbstractContextManager[LiveProxy]]) -> None:
        self._opened = opened
        self._shared = ExitStack()
        self._proxy: LiveProxy | None = None

    def shared(self) -> LiveProxy:
        """Return the proxy that scenes share, started at the first question."""
        if self._proxy is None:
            self._proxy = self._shared.enter_context(self._opened())
        return self._proxy

    def own(self, **tables: Mapping[str, Toml]) -> AbstractContextManager[LiveProxy]:
        """Return a proxy with a configuration of its own; the shared one ends."""
        self.close()
        return self._opened(**tables)

    def close(self) -> None:
        """End the shared proxy."""
        self._shared.close()
        self._proxy = None


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream, foreign: Upstream
) -> Iterator[House]:
    """The proxies of a module; they may dial the foreign upstream, which has no credential."""

    def opened(
        upstream: Upstream = up, **tables: Mapping[str, Toml]
    ) -> AbstractContextManager[LiveProxy]:
        proxy = {"allow_private": [upstream.authority, foreign.authority]}
        tables["proxy"] = {**proxy, **tables.get("proxy", {})}
        return live_proxy(tmp_path_factory.mktemp("stage"), certs, upstream, **tables)

    made = House(opened)
    yield made
    made.close()


@pytest.fixture
def scene(
    house: House, up: Upstream, sight: Sight, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Scene]:
    """A scene with a session for the tool of the upstream, at a proxy that others share."""
    proxy = house.shared()
    monkeypatch.setenv("GHOST_HOME", str(proxy.home.root))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(proxy.home.runtime))
    with played(proxy, up, sight) as made:
        yield made


@pytest.fixture
def staged(house: House, up: Upstream, sight: Sight) -> Staged:
    """Return a maker of scenes with a proxy and a configuration of their own."""

    @contextmanager
    def made(
        *scopes: str, upstream: Upstream = up, **tables: Mapping[str, Toml]
    ) -> Iterator[Scene]:
        with (
            house.own(upstream=upstream, **tables) as live,
            played(live, upstream, sight, *scopes) as each,
        ):
            yield each

    return made
