"""The battery: every test is a variant of a scenario, and `make attack` ends with the table of all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from support import fixtures
from support.board import Board, Sight, Variant
from support.certs import Certs
from support.home import Toml
from support.live import LiveProxy, live_proxy
from support.scene import Scene, played, watched
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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse a test here that is no scenario, and two that disagree about one; keep variants together.

    Variants of one function often share a proxy, which a random order would start anew for each.
    """
    ours = [item for item in items if item.path.parent == Path(__file__).parent]
    places = [place for place, item in enumerate(items) if item in set(ours)]
    order = {item.nodeid.partition("[")[0]: place for place, item in reversed([*enumerate(ours)])}
    together = sorted(ours, key=lambda each: (order[each.nodeid.partition("[")[0]], each.name))
    for place, item in zip(places, together, strict=True):
        items[place] = item
    for item in ours:
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
    found = getattr(item, "funcargs", {})
    if report.when == "call" and isinstance(found.get("live"), LiveProxy):
        watched(found["live"], found["up"], item.stash.setdefault(SIGHT, Sight()))
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


up = fixtures.upstream("module", names=NAMES)


@pytest.fixture(scope="module")
def foreign(certs: Certs) -> Iterator[Upstream]:
    """An upstream of somebody else, with a certificate for every name."""
    with Upstream(certs, names=NAMES) as upstream:
        yield upstream


class House:
    """The one proxy that a process can run at a time; kept for the next scene that wants the same."""

    def __init__(self, opened: Callable[..., AbstractContextManager[LiveProxy]]) -> None:
        self._opened = opened
        self._stack = ExitStack()
        self._proxy: tuple[str, LiveProxy] | None = None

    def proxy(self, **tables: object) -> LiveProxy:
        """Return a proxy with this configuration: the one that runs, or a new one."""
        wanted = repr(tables)
        if self._proxy is None or self._proxy[0] != wanted:
            self.close()
            self._proxy = (wanted, self._stack.enter_context(self._opened(**tables)))
        return self._proxy[1]

    def close(self) -> None:
        """End the proxy that runs."""
        self._proxy = None
        self._stack.close()


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
    proxy = house.proxy()
    at_home(proxy, monkeypatch)
    with played(proxy, up, sight) as made:
        yield made


def at_home(proxy: LiveProxy, patch: pytest.MonkeyPatch) -> None:
    """Let this process see the home of a proxy, as the proxy's own thread does."""
    patch.setenv("GHOST_HOME", str(proxy.home.root))
    patch.setenv("XDG_RUNTIME_DIR", str(proxy.home.runtime))


@pytest.fixture
def staged(house: House, up: Upstream, sight: Sight, monkeypatch: pytest.MonkeyPatch) -> Staged:
    """Return a maker of scenes with a configuration of their own.

    With `clean` the scene leaves the home as it found it, so that the next one can have the same proxy.
    """

    @contextmanager
    def made(
        *scopes: str, upstream: Upstream = up, clean: bool = False, **tables: Mapping[str, Toml]
    ) -> Iterator[Scene]:
        own = {"upstream": upstream} if upstream is not up else {}
        proxy = house.proxy(**own, **tables)
        at_home(proxy, monkeypatch)
        try:
            with played(proxy, upstream, sight, *scopes) as each:
                yield each
        finally:
            if not clean:
                house.close()

    return made
