"""The owner: one engine, the sessions in its custody, and what others may ask of it.

`possess`, `run` and a lone `act` are this object with different beginnings and ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

from ghost_addons import acting, ca, draining, evaporate, master, ports, quarantine
from ghost_addons.called import Called
from ghost_addons.draining import CUT_SECONDS
from ghost_addons.events import Events
from ghost_addons.governance import Governor
from ghost_addons.guard import Guard
from ghost_addons.hidden import Secrets
from ghost_addons.refusals import Refusals
from ghost_addons.services import Services
from ghost_addons.session import LiveSession, Sessions
from ghost_addons.supported import refuse_unsupported
from ghost_core import db, log
from ghost_core import settings as configuration
from ghost_core.clock import Clock, SystemClock
from ghost_core.errors import DeniedError, GhostError, UsageError
from ghost_core.paths import Home
from ghost_core.settings import Settings
from ghost_credentials.references import SecretSource
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Recorder
from ghost_ledger.session.control_server import ControlServer
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.signing import Signing

DRAIN_SECONDS = 10.0
GRACE_SECONDS = 5.0
WATCH_SECONDS = 0.5

type Message = dict[str, object]


@dataclass(slots=True)
class Proxy:
    """One owner process."""

    home: Home
    settings: Settings
    services: Services
    engine: master.Engine
    authority: ca.Authority
    events: Events
    port: int = 0
    _controls: dict[str, ControlServer] = field(default_factory=dict)
    _signings: dict[str, Signing] = field(default_factory=dict)
    _watch: asyncio.Task[None] | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _beside: set[asyncio.Task[None]] = field(default_factory=set)

    @classmethod
    def open(
        cls,
        home: Home,
        load: Callable[[], Settings] = configuration.load,
        *,
        clock: Clock | None = None,
        ca_folder: Path | None = None,
    ) -> Proxy:
        """Open ledger and engine of this home; nothing listens yet.

        `ca_folder` gives the engine an authority of its own. Raises ConfigError, UnavailableError or
        IntegrityError where the home cannot be used.
        """
        home.ensure()
        clock = clock or SystemClock()

        def checked() -> Settings:
            found = load()
            refuse_unsupported(found)
            return found

        settings = checked()
        recorder = Recorder.open(home, settings.database.url, clock=clock)
        engine = db.engine(settings.database.url)
        ledger = Ledger(engine)
        # A source of its own: the one of the calls wipes what it keeps when the last session ends.
        told = Events(home, recorder, SecretSource(home, engine).resolve, clock, Called(ledger))
        told.configure(settings)
        governor = Governor(
            checked, [str(file) for file in configuration.files()], on_change=told.configure
        )
        services = Services(
            home=home,
            clock=clock,
            ledger=ledger,
            recorder=recorder,
            sessions=Sessions(home, ledger, recorder, clock),
            governor=governor,
            secrets=Secrets(SecretSource(home, engine)),
            refusals=Refusals(recorder),
        )
        authority = ca.ensure(ca_folder or home.ca)
        upstream = Path(settings.proxy.upstream_ca) if settings.proxy.upstream_ca else None
        guard = master.Engine(Guard(services), authority, upstream)
        return cls(home, settings, services, guard, authority, told)

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port. Raises UnavailableError `port.busy`."""
        listening = await self.engine.start(ports.addresses(host), port)
        self.port = listening.port
        self.services.doors.update((address, self.port) for address in listening.hosts)
        self.services.sessions.on_admit = self._welcome
        self.services.sessions.on_quarantine = self._cut
        self._watch = asyncio.ensure_future(self._watch_lifetimes())
        return self.port

    def admit(self, sid: str, *, custody: Custody | None = None) -> LiveSession:
        """Take a session into custody now, instead of at its first client."""
        return self.services.sessions.admit(sid, custody=custody)

    def _welcome(self, session: LiveSession) -> None:
        """Answer for a session from now on, and scrub what its credentials hold."""
        governance = self.services.governor.in_force(session.scopes)
        self.services.secrets.learn(governance.credentials)
        recorder = self.services.recorder
        self._signings[session.sid] = Signing(
            recorder.engine, recorder.origin, session.sid, session.custody.key, self.services.clock
        )
        control = ControlServer(session.sid, functools.partial(self._control, session.sid))
        self._controls[session.sid] = control
        self._spawned(self._answer_for(session.sid, control))

    def _cut(self, session: LiveSession, spare: str) -> None:
        """Close the connections of a session in quarantine; the one that reads why, a moment later."""
        for client in session.clients - {spare}:
            self.engine.close_client(client)
        if spare:
            loop = asyncio.get_running_loop()
            loop.call_later(CUT_SECONDS, self.engine.close_client, spare)

    def _spawned(self, work: Coroutine[object, object, None]) -> None:
        """Run something beside, held until it is done."""
        task = asyncio.ensure_future(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def _answer_for(self, sid: str, control: ControlServer) -> None:
        try:
            await control.start()
        except GhostError as error:
            log.events(__name__).error("control.unavailable", sid=sid, code=error.code)

    # -- what others ask -----------------------------------------------------------------------------

    async def _control(self, sid: str, request: Message) -> Message:
        session = self.services.sessions.get(sid)
        if session is None:
            raise DeniedError(f"session {sid}: evaporated", code="session.evaporated")
        match request.get("op"):
            case "status":
                return self._status(session)
            case "sign" if session.alive():
                return self._signings[sid].answer(request)
            case "sign":
                raise DeniedError(f"session {sid}: is ending", code="session.evaporated")
            case "act":
                return await self.act(session, request)
            case "evaporate":
                grace = request.get("grace")
                seconds = float(grace) if isinstance(grace, int | float) else GRACE_SECONDS
                return await self.evaporate(session, grace_seconds=seconds)
            case unknown:
                raise UsageError(f"control request {unknown!r}: unknown", code="control.unknown")

    def _status(self, session: LiveSession) -> Message:
        """Say what we serve; the database helps whoever cannot read the configuration any more."""
        return {
            "session_id": session.sid,
            "port": self.port,
            "calls": len(session.calls),
            "home": str(self.home.root.resolve()),
            "database": self.settings.database.url,
        }

    async def act(self, session: LiveSession, request: Message) -> Message:
        """Run one declared call through our own gates and return act's document."""
        return await acting.act(self.services, session, request, self._door(session))

    def _door(self, session: LiveSession) -> acting.Doorway:
        return acting.Doorway(self.port, session.sid, self.authority.certificate_file)

    # -- ending --------------------------------------------------------------------------------------

    async def evaporate(
        self, session: LiveSession, *, grace_seconds: float, reason: str = "evaporate"
    ) -> Message:
        """End a session: refuse new calls, cut streams at once, give held calls the grace, seal, wipe.

        Whoever asks while it ends gets the same answer.
        """
        if session.conclusion is None:
            work = self._evaporate(session, grace_seconds=grace_seconds, reason=reason)
            session.conclusion = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(session.conclusion)
        except GhostError:
            session.conclusion = None
            raise

    async def _evaporate(
        self, session: LiveSession, *, grace_seconds: float, reason: str
    ) -> Message:
        session.ending = True
        await self._end_children(session.sid, reason)
        await draining.drain(self.services, session, self.engine.close_client, grace_seconds)
        await self.services.refusals.flush(session.sid)
        await quarantine.settle(self.services, session)
        others = any(each is not session for each in self.services.sessions.live)
        secrets = () if others else self.services.secrets.surrender()
        document = await asyncio.to_thread(
            evaporate.conclude,
            session,
            home=self.home,
            ledger=self.services.ledger,
            recorder=self.services.recorder,
            clock=self.services.clock,
            secrets=secrets,
            reason=reason,
        )
        self.services.sessions.forget(session)
        self._spawned(self._retire(session.sid))
        return document

    async def _retire(self, sid: str) -> None:
        """Stop answering for a session, once whoever asked for its end has the answer."""
        await asyncio.sleep(CUT_SECONDS)
        await self._stop_control(sid)

    async def _stop_control(self, sid: str) -> None:
        self._signings.pop(sid, None)
        control = self._controls.pop(sid, None)
        if control is not None:
            await control.stop()

    async def _end_children(self, sid: str, reason: str) -> None:
        """End the sessions that were spawned under this one and still live; those of others end refused."""
        for row in self.services.ledger.open_sessions():
            if row.parent != sid:
                continue
            try:
                child = self.services.sessions.admit(row.session_id, ended=True)
                await self.evaporate(child, grace_seconds=0, reason=reason)
            except GhostError as error:
                log.events(__name__).warning(
                    "session.child_unsealed", sid=row.session_id, code=error.code
                )

    async def _watch_lifetimes(self) -> None:
        """Seal each session when its time is over."""
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), WATCH_SECONDS)
            for session in self.services.sessions.live:
                await self._watch_quarantine(session)
                if session.conclusion is None and (session.ends() or self._is_orphan(session)):
                    await self._seal_expired(session)

    async def _watch_quarantine(self, session: LiveSession) -> None:
        """Write down what the ledger could not take before, and hear of parents owned elsewhere."""
        try:
            if not session.quarantined:
                self.services.sessions.inherit(session)
            elif not session.ending:
                await quarantine.settle(self.services, session)
        except GhostError as error:
            log.events(__name__).warning(
                "session.quarantine_unwritten", sid=session.sid, code=error.code
            )

    def _is_orphan(self, session: LiveSession) -> bool:
        """Tell whether the parent has ended, perhaps in another process."""
        if not session.parent:
            return False
        parent = self.services.ledger.session(session.parent)
        return parent is None or parent.evaporated_at is not None

    async def _seal_expired(self, session: LiveSession) -> None:
        reason = "ttl" if session.ends() else "evaporate"
        try:
            await self.evaporate(session, grace_seconds=0, reason=reason)
        except GhostError as error:
            # It stays refused; the next look, or the next command, tries again.
            log.events(__name__).warning("session.unsealed", sid=session.sid, code=error.code)

    async def stop(self, *, grace_seconds: float = DRAIN_SECONDS) -> None:
        """Drain and end; sessions stay as they are, for the next owner."""
        self._stopping.set()
        if self._watch is not None:
            await self._watch
        await self.engine.stop(grace_seconds=grace_seconds)
        endings = [each.conclusion for each in self.services.sessions.live if each.conclusion]
        await asyncio.gather(*endings, return_exceptions=True)
        for session in self.services.sessions.live:
            await draining.settle_left(self.services, session)
        for task in set(self._beside):
            task.cancel()
        for sid in list(self._controls):
            await self._stop_control(sid)
        await self.services.refusals.flush()
        for session in self.services.sessions.live:
            self.services.sessions.release(session)
        await asyncio.to_thread(self.events.close)
        await asyncio.to_thread(self.services.recorder.close)
