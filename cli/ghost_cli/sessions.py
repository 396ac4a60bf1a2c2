"""What session commands share: the home opened, what the dead left swept up, one session named."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ghost_core import settings as configuration
from ghost_core.clock import SystemClock
from ghost_core.errors import DeniedError, NotFoundError, UnavailableError, UsageError
from ghost_core.paths import Home
from ghost_core.paths import home as ghost_home
from ghost_core.settings import Settings
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder

OWNER_SECONDS = 10.0
_LOOKUPS = "UV_THREADPOOL_SIZE"
_LOOKUP_THREADS = "128"  # names that hang are not to hold up those of other sessions

type Message = dict[str, object]


@dataclass(frozen=True, slots=True)
class Opened:
    """A home with its settings."""

    home: Home
    settings: Settings

    @classmethod
    def now(cls) -> Opened:
        """Open the home of this process."""
        return cls(ghost_home(), configuration.load())

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """Open the ledger for reading, after sessions that ended without an owner were sealed.

        Raises NotFoundError `ledger.missing` where there is no database yet: reading makes none.
        """
        from ghost_core import db
        from ghost_ledger.session.sweep import due

        engine = db.engine(self.settings.database.url, home=self.home)
        try:
            if not db.exists(engine):
                raise NotFoundError(
                    f"ledger {db.name(engine)!r}: does not exist yet",
                    code="ledger.missing",
                    hint="ghost spawn --intent … --scope …, or set GHOST_HOME",
                )
            if due(engine, SystemClock()):
                with self.recorder() as recorder:
                    sweep(recorder)
            yield Ledger(engine, self.home)
        finally:
            engine.dispose()

    @contextmanager
    def recorder(self, *, with_memory: bool = False) -> Iterator[Recorder]:
        """Open the ledger for writing, memory's tables too; webhooks and triggers hear of what is entered."""
        settings, clock = self.settings, SystemClock()
        with Recorder.open(
            self.home,
            settings.database.url,
            clock=clock,
            payload_policy=settings.ledger.payloads,
            with_memory=with_memory,
        ) as recorder:
            if not settings.webhooks and not settings.triggers:
                yield recorder
                return
            from ghost_addons import events

            with events.following(self.home, settings, recorder, clock):
                yield recorder


def sweep(recorder: Recorder) -> None:
    """Seal or give up what ended without an owner."""
    from ghost_ledger.session import sweep as sweeping

    sweeping.sweep(recorder, ghost_home(), SystemClock())


def chosen(opened: Opened, named: str) -> str:
    """Return the session that was named, that of GHOST_SESSION_ID, or the only live one.

    Raises UsageError where none or several could be meant.
    """
    if named:
        return named
    live = _live(opened)
    if len(live) == 1:
        return live[0]
    raise UsageError(
        f"expected --session-id: {len(live) or 'no'} sessions live",
        code="usage.session",
        hint="ghost session list" if live else "ghost spawn --intent … --scope …",
    )


def _live(opened: Opened) -> list[str]:
    from ghost_ledger.session import lifetime

    clock = SystemClock()
    try:
        with opened.ledger() as ledger:
            rows = ledger.open_sessions()
    except NotFoundError:
        return []
    return [row.session_id for row in rows if not row.system and not lifetime.expired(row, clock)]


def asked(sid: str, request: Message, *, timeout: float, alone: Callable[[], Message]) -> Message:
    """Ask the session's owner, or where nobody owns it, do it `alone`; returns the answer.

    Between taking the lock and answering, and between the last answer and the release, an owner cannot be
    asked: that is waited for, up to 10 s. So is who took the session while we got ready to.
    """
    from ghost_ledger.session import control
    from ghost_ledger.session.custody import is_owned

    until = time.monotonic() + OWNER_SECONDS
    while True:
        try:
            return control.ask(sid, request, timeout=timeout)
        except NotFoundError as error:
            if error.code != "session.no_owner":
                raise
        late = time.monotonic() > until
        if late or not is_owned(sid):
            try:
                return alone()
            except UnavailableError as error:
                if error.code != "session.owned" or late:
                    raise
        time.sleep(0.02)


_NEW_OBJECTS = 10_000  # some twenty calls; at Python's 700 every call would have its own collection


def with_engine[T](program: Coroutine[object, object, T]) -> T:
    """Load the engine, which takes a second, and run a program in its loop.

    Where our environment names a file for TLS session keys, the engine would write every one there.
    """
    for name in ("SSLKEYLOGFILE", "MITMPROXY_SSLKEYLOGFILE"):
        os.environ.pop(name, None)  # noqa: TID251  # read by the engine as it is imported
    from ghost_addons import loop, master, proxy  # noqa: F401  # everything is loaded before the loop runs

    gc.enable()  # `main` has none collected while a command starts; this one goes on
    gc.freeze()  # what is loaded by now lives to the end, and need not be looked at again
    gc.set_threshold(_NEW_OBJECTS, 20)
    return loop.run(_with_lookups(program))


async def _with_lookups[T](program: Coroutine[object, object, T]) -> T:
    """Give the loop the threads in which it looks up names; it reads how many as it first needs one."""
    if _LOOKUPS in os.environ:  # noqa: TID251  # the event loop's setting, not one of ours
        return await program
    os.environ[_LOOKUPS] = _LOOKUP_THREADS  # noqa: TID251  # as above
    numeric = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV
    await asyncio.get_running_loop().getnameinfo(("127.0.0.1", 0), numeric)
    del os.environ[_LOOKUPS]  # noqa: TID251  # our children have loops of their own
    return await program


@contextmanager
def unknown_is_missing() -> Iterator[None]:
    """Report a session that this ledger does not have as something missing, not as a refusal."""
    try:
        yield
    except DeniedError as error:
        if error.code != "session.unknown":
            raise
        raise unknown(error.message) from error


def unknown(message: str) -> NotFoundError:
    """Return the error for a session that this ledger does not have."""
    return NotFoundError(message, code="session.unknown", hint="ghost session list")
