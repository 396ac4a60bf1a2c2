"""Who hears of what was entered: webhooks and triggers of the configuration, beside the calls.

The recorder tells of entries after their commit; here they become events in queues. Nothing waits for a
receiver: not a call, and the end of the process only for a bounded time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ghost_addons import deliverer, notice
from ghost_addons.called import Called
from ghost_addons.deliverer import Deliverer
from ghost_addons.line import STOP_SECONDS, Line
from ghost_addons.trigger import Trigger
from ghost_core import db, log
from ghost_core.clock import Clock
from ghost_core.errors import GhostError
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_core.settings import Settings
from ghost_core.settings_tables import TriggerSettings, WebhookSettings
from ghost_credentials.references import Reference, SecretSource
from ghost_hooks.posting import Poster
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Receipt, Recorder

DRAIN_SECONDS = 3.0

type Key = tuple[object, ...]


@dataclass(slots=True)
class _Listener:
    """One webhook or trigger: which events it wants, and its line."""

    wanted: frozenset[str]
    line: Line
    trigger: Trigger | None = None


@dataclass(slots=True)
class Events:
    """The listeners in force; `configure` may be called again whenever the settings changed."""

    home: Home
    recorder: Recorder
    resolve: Callable[[Reference], SecretBytes]
    clock: Clock
    called: Called
    _listeners: dict[Key, _Listener] = field(default_factory=dict)
    _retired: list[_Listener] = field(default_factory=list)
    _hidden: dict[Reference, SecretBytes] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def configure(self, settings: Settings) -> None:
        """Listen as the settings say; what did not change keeps its line and its place in it."""
        wanted = dict(self._wanted(settings))
        with self._lock:
            gone = [key for key in self._listeners if key not in wanted]
            for key in gone:
                self._listeners[key].line.finish()
                self._retired.append(self._listeners.pop(key))
            for key, made in wanted.items():
                if key not in self._listeners:
                    self._listeners[key] = made()
            listens = bool(self._listeners)
        self.recorder.follow(self.told if listens else None)

    def told(self, receipts: tuple[Receipt, ...]) -> None:
        """Queue what was committed, for whoever wants it; called by the ledger's writer."""
        for receipt in receipts:
            found = notice.of(receipt, self.called)
            if found is None:
                continue
            with self._lock:
                listeners = [each for each in self._listeners.values() if found.name in each.wanted]
            for each in listeners:
                each.line.put(found)

    def secrets(self, settings: Settings) -> Iterator[SecretBytes]:
        """Yield the secrets of all webhooks that can be read without running a command."""
        for name, each in settings.webhooks.items():
            reference = deliverer.reference_of(name, each)
            if reference.scheme != "cmd":
                with contextlib.suppress(GhostError):  # told when a delivery needs it
                    yield self._resolved(reference)

    def failures(self) -> int:
        """Return how many runs of triggers failed so far."""
        every = (*self._listeners.values(), *self._retired)
        return sum(each.trigger.failed for each in every if each.trigger is not None)

    def close(self, seconds: float = DRAIN_SECONDS) -> None:
        """Hear nothing more, let the lines run empty for so long, then give up what is left."""
        self.recorder.follow(None)
        until = time.monotonic() + seconds
        with self._lock:
            every = [*self._listeners.values(), *self._retired]
            self._listeners, self._retired = {}, []
        for each in every:
            each.line.finish()
        for each in every:
            each.line.wait(until)
        for each in every:
            each.line.stop()
        until = time.monotonic() + STOP_SECONDS
        for each in every:
            each.line.end(until)

    def _wanted(self, settings: Settings) -> Iterator[tuple[Key, Callable[[], _Listener]]]:
        poster, seconds = Poster.of(settings), settings.hooks.timeout_seconds
        for name, each in settings.webhooks.items():
            yield ("webhook", name, each, poster), _maker(self._webhook, name, each, poster)
        for number, command in enumerate(settings.triggers):
            key = ("trigger", number, command, seconds)
            yield key, _maker(self._trigger, number, command, seconds)

    def _webhook(self, name: str, settings: WebhookSettings, poster: Poster) -> _Listener:
        made = Deliverer(name, settings, poster, self._resolved, self.recorder, self.clock)
        line = Line(f"webhook-{name}", made.deliver, made.lost)
        return _Listener(frozenset(settings.on), line)

    def _trigger(self, number: int, settings: TriggerSettings, seconds: float) -> _Listener:
        made = Trigger(settings, self.home.root, seconds)
        line = Line(f"trigger-{number}", made.start, made.lost)
        return _Listener(frozenset((settings.on,)), line, made)

    def _resolved(self, reference: Reference) -> SecretBytes:
        """Return a webhook's secret, kept out of every log line from now on."""
        secret = self.resolve(reference)
        with self._lock:
            fresh = self._hidden.get(reference) != secret
            if fresh:
                self._hidden[reference] = SecretBytes(secret.reveal())
                log.hide(self._hidden[reference])
        return secret


def _maker[*Parts](make: Callable[[*Parts], _Listener], *parts: *Parts) -> Callable[[], _Listener]:
    return lambda: make(*parts)


def check(settings: Settings) -> None:
    """Refuse webhooks that could never deliver; raises ConfigError."""
    poster = Poster.of(settings)
    for name, each in settings.webhooks.items():
        deliverer.check(name, each, poster)


@contextlib.contextmanager
def following(home: Home, settings: Settings, recorder: Recorder, clock: Clock) -> Iterator[Events]:
    """Tell the listeners of what is entered within the block; for commands that run without a proxy."""
    check(settings)
    engine = db.engine(settings.database.url, home=home)
    resolve, called = SecretSource(home, engine).resolve, Called(Ledger(engine, home))
    events = Events(home, recorder, resolve, clock, called)
    events.configure(settings)
    try:
        yield events
    finally:
        events.close()
        engine.dispose()
