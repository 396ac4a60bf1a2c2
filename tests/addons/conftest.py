"""One upstream and one proxy for each test of this room."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ghost_addons.action import Action
from ghost_addons.governance import Governor
from ghost_addons.hidden import Secrets
from ghost_addons.session import LiveSession as Owned
from ghost_core import db, ids
from ghost_core import settings as configuration
from ghost_core.paths import Home
from ghost_core.paths import home as ghost_home
from ghost_credentials.references import SecretSource
from ghost_hooks.decision import Decision
from ghost_hooks.request import Request
from ghost_hooks.target import Target
from ghost_ledger.recorder import Recorder
from ghost_ledger.session.custody import Custody
from support.certs import Certs
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream


@pytest.fixture
def proxy(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    """A live proxy for the upstream."""
    with live_proxy(tmp_path, certs, up) as live:
        yield live


class Lock:
    """Keeps everybody else from writing to a database, while it is held."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: sqlite3.Connection | None = None

    def take(self) -> None:
        """Begin to write and do not end."""
        self._held = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        self._held.execute("BEGIN IMMEDIATE")

    def release(self) -> None:
        """Give up; harmless where nothing is held."""
        if self._held is not None:
            self._held.close()
            self._held = None


@pytest.fixture
def hasty(
    tmp_path: Path, certs: Certs, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[LiveProxy, Lock]]:
    """A live proxy that does not wait for a busy database, and the lock of that database."""
    patient = Recorder.open

    def opened(home: Home, url: str, **options: Any) -> Recorder:
        return patient(home, url, busy_seconds=0.05, **options)

    monkeypatch.setattr(Recorder, "open", opened)
    with live_proxy(tmp_path, certs, up) as live:
        lock = Lock(live.home.root / "ghost.db")
        try:
            yield live, lock
        finally:
            lock.release()


@pytest.fixture
def session(proxy: LiveProxy) -> LiveSession:
    """A session that may do anything at the upstream's tool."""
    return proxy.spawn("demo_api")


@pytest.fixture
def secrets(tmp_path: Path) -> Secrets:
    """No secret yet."""
    engine = db.engine(f"sqlite:///{tmp_path}/ghost.db")
    return Secrets(SecretSource(ghost_home().ensure(), engine))


@pytest.fixture
def action_of(home: Path) -> Iterator[Callable[..., Action]]:
    """Return a maker of calls that are judged but not on any wire, by the rules of an empty home."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    sid = ids.session_id()
    governor = Governor(configuration.load, [])
    scopes = ("GET https://api.test/**",)
    with Custody.create(sid) as custody:
        session = Owned(sid, "test", scopes, custody, expires_at_us=0, ends=lambda: False)

        def made(method: str = "POST", *, tool: str = "demo", **fields: Any) -> Action:
            decision = Decision((), allowed=True, tool=tool, action="write" if tool else "")
            request = Request(method, Target.parse("https://api.test/x"))
            action = Action(session, governor.in_force(scopes), decision, request)
            for name, value in fields.items():
                setattr(action, name, value)
            return action

        yield made
