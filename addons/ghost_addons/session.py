"""Sessions that this process owns: who a client is, whether it still lives, what it has done.

A session enters when a client first presents its token (or when `possess --session-id` names it): its lock is
taken, its key loaded, its chain attached to the recorder. From then on this process signs for it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ghost_addons.action import Action
from ghost_addons.pacing import Pace
from ghost_addons.refusal import Refusal
from ghost_addons.ticket import Ticket
from ghost_core.clock import Clock
from ghost_core.errors import DeniedError
from ghost_core.ids import is_session_id
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_hooks.account import Account
from ghost_hooks.limits import Spent
from ghost_ledger.drafts import Draft
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Receipt, Recorder
from ghost_ledger.session import lifetime, quarantine, token
from ghost_ledger.session.custody import Custody
from ghost_ledger.session.tally import Tally

if TYPE_CHECKING:
    from ghost_ledger.store import SessionRow


@dataclass(slots=True)
class LiveSession:
    """One session in our custody, its counters and its calls in flight.

    `quarantined` names the session whose quarantine holds for it: itself or one above it; `unwritten` is
    the entry of its own, until the ledger has it.
    """

    sid: str
    intent: str
    scopes: tuple[str, ...]
    custody: Custody
    expires_at_us: int
    ends: Callable[[], bool]
    parent: str = ""
    ending: bool = False
    spawned_at_us: int = 0
    tally: Tally = field(default_factory=Tally)
    account: Account = field(default_factory=Account)
    used: set[str] = field(default_factory=set)
    calls: dict[str, Action] = field(default_factory=dict)
    clients: set[str] = field(default_factory=set)
    token: SecretBytes | None = None
    quarantined: str = ""
    pace: Pace = field(default_factory=Pace)
    unwritten: Draft | None = None
    conclusion: asyncio.Future[dict[str, object]] | None = None

    def alive(self) -> bool:
        """Tell whether the session may still act: not ending, not past its deadline."""
        return not self.ending and not self.ends()

    def document(self) -> dict[str, object]:
        """What hooks are told of the session."""
        return {"session_id": self.sid, "intent": self.intent, "scopes": list(self.scopes)}


@dataclass(frozen=True, slots=True)
class _Unjudged:
    """A lifetime that is judged elsewhere: by the session's own deadline, not by the token."""

    boot: str
    deadline: int = 2**62


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a client turned out to be."""

    session: LiveSession
    ticket: Ticket | None = None


class Sessions:
    """Finds, admits and lets go of the sessions of this process."""

    def __init__(self, home: Home, ledger: Ledger, recorder: Recorder, clock: Clock) -> None:
        self._home = home
        self._ledger = ledger
        self._recorder = recorder
        self._clock = clock
        self._live: dict[str, LiveSession] = {}
        self._tickets: dict[str, Ticket] = {}
        self._unjudged = _Unjudged(clock.boot_id())
        self.bare: str = ""
        self.leaks: dict[str, int] = {}  # by the root of a family of sessions; see `guesses`
        self.on_admit: Callable[[LiveSession], None] = lambda _: None
        self.on_quarantine: Callable[[LiveSession, str], None] = lambda _, __: None

    @property
    def live(self) -> tuple[LiveSession, ...]:
        """The sessions in our custody."""
        return tuple(self._live.values())

    def get(self, sid: str) -> LiveSession | None:
        """Return the session if it is in our custody."""
        return self._live.get(sid)

    def admit(
        self, sid: str, *, custody: Custody | None = None, ended: bool = False
    ) -> LiveSession:
        """Take the session into our custody; `ended` admits one whose time is over, to seal it.

        Raises DeniedError if it is over, UnavailableError `session.owned` if another process has it.
        """
        found = self._live.get(sid)
        if found is not None:
            return found
        row = self._ledger.session(sid)
        if row is None:
            raise DeniedError(f"session {sid}: unknown", code="session.unknown")
        if row.evaporated_at is not None:
            raise DeniedError(f"session {sid}: evaporated", code="session.evaporated")
        if lifetime.expired(row, self._clock) and not ended:
            raise DeniedError(f"session {sid}: expired", code="session.expired")
        owned = custody or Custody.acquire(sid)
        try:
            session = self._taken(row, owned)
            self.on_admit(session)
        except BaseException:
            if custody is None:  # our own lock would keep even us out
                self._recorder.detach(sid)
                owned.release()
            raise
        self._live[sid] = session
        return session

    def _taken(self, row: SessionRow, custody: Custody) -> LiveSession:
        self._recorder.attach(row.session_id, custody.key)
        return LiveSession(
            sid=row.session_id,
            intent=row.intent or "",
            scopes=tuple(row.scopes),
            custody=custody,
            expires_at_us=row.expires_at,
            ends=lifetime.ender(row, self._clock),
            parent=row.parent or "",
            spawned_at_us=int(row.spawned_at.timestamp() * 1_000_000),
            tally=Tally.load(custody.folder.path),
            account=self._account(row.session_id),
            quarantined=quarantine.source(self._ledger, row),
        )

    def _account(self, sid: str) -> Account:
        """Return what the session has used under the owners before us."""
        counted = self._ledger.counted(sid)
        return Account(
            {name: Spent(each.calls, each.bytes, each.sum) for name, each in counted.items()}
        )

    def quarantine(self, session: LiveSession, *, spare: str = "") -> None:
        """Put a session and those below it in quarantine, in this process, now.

        `spare` is the client that is still to read why; the others lose their connections.
        """
        session.quarantined = session.sid
        self.on_quarantine(session, spare)
        for each in self.live:
            if not each.quarantined and self._is_below(each, session.sid):
                each.quarantined = session.sid
                self.on_quarantine(each, spare if spare in each.clients else "")

    def inherit(self, session: LiveSession) -> None:
        """Look whether another process has put a session above this one in quarantine."""
        row = self._ledger.session(session.sid) if session.parent else None
        source = quarantine.source(self._ledger, row) if row is not None else ""
        if source and not session.quarantined:
            session.quarantined = source
            self.on_quarantine(session, "")

    def _is_below(self, session: LiveSession, sid: str) -> bool:
        parent, seen = session.parent, {session.sid}
        while parent and parent not in seen:
            if parent == sid:
                return True
            seen.add(parent)
            row = self._ledger.session(parent)
            parent = (row.parent or "") if row else ""
        return False

    def forget(self, session: LiveSession) -> None:
        """Drop a session that was sealed."""
        self._live.pop(session.sid, None)

    def release(self, session: LiveSession) -> None:
        """Give a session up as it is, for the next owner."""
        session.tally.save(session.custody.folder.path)
        self._recorder.detach(session.sid)
        session.custody.release()
        self.forget(session)

    def issue_ticket(self, ticket: Ticket) -> None:
        """Accept the ticket's password for its one call."""
        self._tickets[ticket.password] = ticket

    def withdraw_ticket(self, ticket: Ticket) -> None:
        """Stop accepting the ticket."""
        self._tickets.pop(ticket.password, None)

    def tell_ticket(self, action_id: str, refusal: Refusal, receipt: Receipt) -> None:
        """Tell the ticket of a refused call what was entered."""
        for ticket in self._tickets.values():
            if ticket.action_id == action_id:
                ticket.refused(refusal, receipt)

    def authenticate(self, header: bytes) -> Identity:
        """Return who presented this Proxy-Authorization value (RFC 7617 Basic, or RFC 6750 Bearer).

        Raises DeniedError with the reason; presented credentials always decide, there is no fallback.
        """
        named, password = _credentials_of(header)
        ticket = self._tickets.get(password.decode("ascii", "replace"))
        if ticket is not None and named in self._live:
            return Identity(self._living(self._live[named]), ticket)
        return Identity(self._living(self._opened(named, password)))

    def default(self) -> Identity:
        """Return the session of clients that present nothing; only where `bare` names one."""
        return Identity(self._living(self.admit(self.bare)))

    def _opened(self, named: str, password: bytes) -> LiveSession:
        """Return the session of a token; one that it opened before needs no look at the server's keys."""
        known = self._live.get(named)
        if known is not None and known.token == SecretBytes(password):
            return known
        claims = token.check(
            self._home, password, clock=self._clock, sid=named or None, lived=self._unjudged
        )
        session = self.admit(claims.sid)
        if session.token is None:
            session.token = SecretBytes(password)
        return session

    def _living(self, session: LiveSession) -> LiveSession:
        if session.ending:
            raise DeniedError(f"session {session.sid}: evaporated", code="session.evaporated")
        if session.ends():
            raise DeniedError(f"session {session.sid}: expired", code="session.expired")
        if session.parent:
            self._parent_lives(session)
            self.inherit(session)
        return session

    def _parent_lives(self, session: LiveSession) -> None:
        row = self._ledger.session(session.parent)
        if row is None or row.evaporated_at is not None:
            raise DeniedError(
                f"session {session.sid}: its parent {session.parent} has ended",
                code="session.parent_ended",
            )


def _credentials_of(header: bytes) -> tuple[str, bytes]:
    scheme, _, value = header.partition(b" ")
    if scheme.lower() == b"bearer":
        return "", value.strip()
    if scheme.lower() != b"basic":
        raise DeniedError("expected Basic or Bearer proxy credentials", code="session.scheme")
    try:
        name, _, password = base64.b64decode(value.strip(), validate=True).partition(b":")
        named = name.decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise DeniedError("the proxy credentials are not Basic", code="session.scheme") from error
    if not is_session_id(named):
        raise DeniedError("the proxy user is not a session id", code="session.unknown")
    return named, password
