"""A whole proxy in this process: its loop runs in a thread, tests talk to it over the wire.

with live_proxy(tmp_path, certs, up) as proxy:
    session = proxy.spawn("demo_api")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        ...
    assert proxy.types(session) == ["session.spawn", "action.intent", "action.outcome"]
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ghost_addons import loop
from ghost_addons.proxy import Proxy
from ghost_addons.session import LiveSession as Owned
from ghost_core import settings as configuration
from ghost_core.clock import Clock, SystemClock
from ghost_core.paths import home as ghost_home_of
from ghost_ledger import entry
from ghost_ledger.entry import Entry
from ghost_ledger.session.spawn import spawn
from support.home import GhostHome, Toml, ghost_home

if TYPE_CHECKING:
    from support.certs import Certs
    from support.upstream import Upstream

WAIT_SECONDS = 20.0
STEP_SECONDS = 0.01
POLICY_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A spawned session as its agent knows it."""

    sid: str
    token: str
    verify_key: str
    wire_key: str

    @property
    def auth(self) -> tuple[str, str]:
        """What the proxy is told."""
        return self.sid, self.token


class LiveProxy:
    """The proxy and the thread of its loop."""

    def __init__(self, home: GhostHome, clock: Clock) -> None:
        self.home = home
        self.clock = clock
        self.port = 0
        self.proxy: Proxy
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.spawned: list[LiveSession] = []

    @property
    def ca(self) -> Path:
        """The certificate that agents trust."""
        return self.proxy.authority.certificate_file

    def _run(self) -> None:
        try:
            loop.run(self._program())
        except BaseException as error:  # noqa: BLE001  # handed to the test's thread
            self._failure = error
        finally:
            self._ready.set()

    async def _program(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self.proxy = Proxy.open(ghost_home_of(), clock=self.clock)
        self.port = await self.proxy.start("127.0.0.1", 0)
        self._ready.set()
        await self._end.wait()
        await self.proxy.stop(grace_seconds=0.2)

    def start(self) -> None:
        """Start, and return once the port accepts."""
        self._thread.start()
        assert self._ready.wait(15), "the proxy did not start"
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stop, and hand on what went wrong in the loop."""
        if self._thread.is_alive() and self._failure is None:
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(15)
        assert not self._thread.is_alive(), "the proxy did not stop"
        if self._failure is not None:
            raise self._failure

    def do[T](self, work: Coroutine[object, object, T]) -> T:
        """Run something in the proxy's loop and return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(15)

    def spawn(self, *scopes: str, ttl_seconds: int = 600, parent: str | None = None) -> LiveSession:
        """Spawn a session as `ghost spawn` does; the proxy takes it at its first client."""
        recorder = self.proxy.services.recorder
        made = spawn(
            recorder,
            ghost_home_of(),
            configuration.load(),
            intent="test",
            ttl_seconds=ttl_seconds,
            scopes=scopes,
            clock=self.clock,
            policy_hash=POLICY_HASH,
            contains=lambda _, __: True,
            parent=parent,
        )
        recorder.detach(made.session_id)
        made.custody.release()
        token = made.token.reveal().decode()
        session = LiveSession(made.session_id, token, made.verify_key, made.wire_key)
        self.spawned.append(session)
        return session

    def entries(self, session: LiveSession | str) -> list[Entry]:
        """Return the entries of a session, parsed; with "system" those of the process itself."""
        sid = session if isinstance(session, str) else session.sid
        if sid == "system":
            sid = self.proxy.services.recorder.system()
        return [entry.parse(stored.body) for stored in self.proxy.services.ledger.entries(sid)]

    def types(self, session: LiveSession | str) -> list[str]:
        """Return the types of a session's entries, in order."""
        return [each.type for each in self.entries(session)]

    def last(self, session: LiveSession | str) -> Entry:
        """Return the newest entry of a session."""
        return self.entries(session)[-1]

    def payload(self, found: Entry, field: str) -> bytes:
        """Return what is stored beside an entry's commitment."""
        ledger = self.proxy.services.ledger
        for stored in ledger.entries(found.sid):
            if stored.seq == found.seq:
                return ledger.payload(found.sid, stored.idx, field) or b""
        raise AssertionError("no such entry")

    def wait_for(self, session: LiveSession | str, count: int, type_: str) -> list[Entry]:
        """Wait until a session has so many entries of a type."""
        deadline = threading.Event()
        for _ in range(int(WAIT_SECONDS / 0.02)):
            found = [each for each in self.entries(session) if each.type == type_]
            if len(found) >= count:
                return found
            deadline.wait(0.02)
        raise AssertionError(f"expected {count} × {type_}, found {self.types(session)}")

    def evaporate(self, session: LiveSession, *, grace_seconds: float = 1) -> dict[str, object]:
        """End a session through its owner."""
        live = self.proxy.services.sessions.get(session.sid) or self.do(self._admit(session.sid))
        return self.do(self.proxy.evaporate(live, grace_seconds=grace_seconds))

    @contextmanager
    def waits(self) -> Iterator[list[float]]:
        """Fill a list with how long the loop kept somebody waiting who asked for little, seconds."""
        found: list[float] = []

        async def watch() -> None:
            while True:
                began = time.monotonic()
                await asyncio.sleep(STEP_SECONDS)
                found.append(time.monotonic() - began - STEP_SECONDS)

        task: Future[None] = asyncio.run_coroutine_threadsafe(watch(), self._loop)
        try:
            yield found
            self.do(asyncio.sleep(2 * STEP_SECONDS))  # the last wait is over then
        finally:
            task.cancel()

    async def _admit(self, sid: str) -> Owned:
        return self.proxy.admit(sid)


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds; bounded."""
    pause = threading.Event()
    for _ in range(int(WAIT_SECONDS / 0.02)):
        if holds():
            return
        pause.wait(0.02)
    raise AssertionError("it did not come about")


@contextmanager
def live_proxy(
    folder: Path,
    certs: Certs,
    up: Upstream | None = None,
    *,
    clock: Clock | None = None,
    **tables: Mapping[str, Toml],
) -> Iterator[LiveProxy]:
    """Run a proxy over a home whose tool `demo_api` leads to the upstream; see `ghost_home`."""
    with ghost_home(folder, up, certs, **tables) as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("GHOST_HOME", str(home.root))
        patch.setenv("XDG_RUNTIME_DIR", str(home.runtime))
        patch.delenv("GHOST_SESSION_ID", raising=False)
        proxy = LiveProxy(home, clock or SystemClock())
        proxy.start()
        try:
            yield proxy
        finally:
            proxy.stop()
