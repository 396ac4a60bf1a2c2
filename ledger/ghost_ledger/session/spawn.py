"""A session comes to be (contract §3): keys and token are made, `session.spawn` is durable, then it is shown.

A spawn that fails leaves nothing: no folder, no key, no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ghost_core import ids
from ghost_core.clock import Clock, rfc3339
from ghost_core.db import engine
from ghost_core.errors import DeniedError, NotFoundError, UsageError
from ghost_core.paths import Home
from ghost_core.secret import SecretBytes
from ghost_core.settings import Settings
from ghost_ledger.canonical import Value
from ghost_ledger.commitment import commit
from ghost_ledger.entry import session_name
from ghost_ledger.note import Vkey
from ghost_ledger.reader import Ledger
from ghost_ledger.recorder import Draft, Payload, Recorder
from ghost_ledger.session import lifetime, quarantine, token
from ghost_ledger.session.custody import Custody
from ghost_ledger.store import SessionRow
from ghost_ledger.system import RECORDER

INTENT_LIMIT_BYTES = 4096

type Contains = Callable[[Sequence[str], Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class Spawned:
    """A new session and our hold on it; the caller releases or destroys `custody` and wipes `token`."""

    session_id: str
    token: SecretBytes
    ephemeral_key: str
    spawn_time: str
    expires_at: str
    expires_at_us: int
    ttl_seconds: int
    scopes: tuple[str, ...]
    verify_key: str
    wire_key: str
    host: str
    port: int
    custody: Custody = field(repr=False)
    parent_id: str | None = None

    @property
    def proxy_url(self) -> str:
        """The proxy's address with the session's credentials; it is a secret."""
        return proxy_url(self.session_id, self.token, host=self.host, port=self.port)

    def document(self) -> dict[str, object]:
        """Return what `ghost spawn` prints: the seed's fields first, then ours."""
        document: dict[str, object] = {
            "session_id": self.session_id,
            "token": self.token.reveal().decode("ascii"),
            "ephemeral_key": self.ephemeral_key,
            "spawn_time": self.spawn_time,
            "expires_at": self.expires_at,
            "ttl_seconds": self.ttl_seconds,
            "scopes": list(self.scopes),
            "proxy_url": self.proxy_url,
            "verify_key": self.verify_key,
            "wire_key": self.wire_key,
        }
        return document | ({"parent_id": self.parent_id} if self.parent_id else {})


@dataclass(frozen=True, slots=True)
class _Term:
    """From when to when: wall clock for people, boot clock for the decision; microseconds."""

    boot: str
    now_us: int
    expires_at_us: int
    deadline_us: int


def spawn(
    recorder: Recorder,
    home: Home,
    settings: Settings,
    *,
    intent: str,
    ttl_seconds: int,
    scopes: Sequence[str],
    clock: Clock,
    policy_hash: str,
    contains: Contains,
    parent: str | None = None,
    persist: bool = True,
) -> Spawned:
    """Make a session that lives `ttl_seconds` from now; it cannot be prolonged.

    The scopes are checked by the caller; `contains` tells whether the parent's hold the child's.
    `persist=False` never writes the keys to a file. The recorder stays attached to the new session.

    Raises:
        UsageError: the intent is empty or over 4 KiB, the TTL is not within 1 … max.
        NotFoundError: code `session.unknown`, there is no such parent.
        DeniedError: the parent has ended, allows less, or ends earlier.
        UnavailableError: runtime folder, key file or ledger cannot be written.
    """
    said = check_intent(intent)
    check_ttl(ttl_seconds, longest=settings.session.max_ttl_seconds)
    term = _term(clock, ttl_seconds)
    if parent is not None:
        row = _parent(settings, parent)
        _check_parent(row, clock, term, scopes=scopes, contains=contains)
    sid = ids.session_id()
    custody = Custody.create(sid, persist=persist)
    try:
        made = token.issue(home, sid, term.expires_at_us, clock=clock)
        draft = _draft(
            recorder,
            custody,
            said,
            term,
            made,
            scopes=scopes,
            parent=parent,
            policy_hash=policy_hash,
        )
        recorder.attach(sid, custody.key)
        recorder.append(draft)
    except BaseException:
        recorder.detach(sid)
        custody.destroy()
        raise
    name = session_name(recorder.origin, sid)
    return Spawned(
        session_id=sid,
        token=made,
        ephemeral_key=public_text(custody.key.public),
        spawn_time=rfc3339(term.now_us),
        expires_at=rfc3339(term.expires_at_us),
        expires_at_us=term.expires_at_us,
        ttl_seconds=ttl_seconds,
        scopes=tuple(scopes),
        verify_key=Vkey(name, custody.key.public).format(),
        wire_key=public_text(custody.wire_key.public),
        host=settings.proxy.host,
        port=settings.proxy.port,
        custody=custody,
        parent_id=parent,
    )


def check_intent(intent: str) -> bytes:
    """Return the intent's bytes; raises UsageError if it says nothing or is over 4 KiB."""
    try:
        said = intent.encode()
    except UnicodeEncodeError as error:
        raise UsageError("intent: expected text in UTF-8", code="usage.intent") from error
    if not intent.strip() or len(said) > INTENT_LIMIT_BYTES:
        raise UsageError(
            f"intent: expected 1 to {INTENT_LIMIT_BYTES} bytes that say something, found {len(said)}",
            code="usage.intent",
            hint="ghost spawn --intent 'deploy staging'",
        )
    return said


def check_ttl(ttl_seconds: int, *, longest: int) -> None:
    """Raise UsageError unless the TTL is within 1 … longest, in seconds."""
    if not 1 <= ttl_seconds <= longest:
        raise UsageError(
            f"ttl {ttl_seconds}: expected 1 to {longest} seconds",
            code="usage.ttl",
            hint="session.max_ttl_seconds in ghost.toml sets the longest",
        )


def public_text(public: bytes) -> str:
    """Return a public key as the outputs show it."""
    return f"ed25519_public_{public.hex()}"


def proxy_url(sid: str, made: SecretBytes, *, host: str, port: int) -> str:
    """Return the proxy's address with a session's credentials in it; it is a secret."""
    named = f"[{host}]" if ":" in host else host
    return f"http://{sid}:{made.reveal().decode('ascii')}@{named}:{port}"


def _term(clock: Clock, ttl_seconds: int) -> _Term:
    ttl_us, now = ttl_seconds * 1_000_000, clock.now_us()
    return _Term(clock.boot_id(), now, now + ttl_us, clock.boottime_us() + ttl_us)


def _draft(
    recorder: Recorder,
    custody: Custody,
    said: bytes,
    term: _Term,
    made: SecretBytes,
    *,
    scopes: Sequence[str],
    parent: str | None,
    policy_hash: str,
) -> Draft:
    sid = custody.folder.sid
    salt, intent = commit("intent", said)
    fields: dict[str, Value] = {
        "vkey": Vkey(session_name(recorder.origin, sid), custody.key.public).format(),
        "wire_key": custody.wire_key.public.hex(),
        "log_vkey": recorder.log_vkey,
        "intent": intent,
        "scopes": list(scopes),
        "ttl_seconds": (term.expires_at_us - term.now_us) // 1_000_000,
        "expires_at": term.expires_at_us,
        "boot": term.boot,
        "deadline": term.deadline_us,
        "token": token.digest(made),
        "policy": policy_hash,
        "recorder": RECORDER,
    }
    if parent is not None:
        fields["parent"] = parent
    payload = Payload("intent", salt, intent, said, len(said), media="text/plain")
    return Draft(
        sid, "session.spawn", ids.entry_id(), fields, (payload,), extra={"intent": said.decode()}
    )


def _parent(settings: Settings, sid: str) -> SessionRow:
    database = engine(settings.database.url)
    try:
        ledger = Ledger(database)
        row = ledger.session(sid)
        quarantined = quarantine.source(ledger, row) if row is not None else ""
    finally:
        database.dispose()
    if row is None or row.system:
        raise NotFoundError(
            f"session {sid[:64]}: not in this ledger",
            code="session.unknown",
            hint="ghost session list",
        )
    if quarantined:
        raise DeniedError(
            f"session {sid}: is in quarantine, it can have no children",
            code="session.quarantined",
            hint=f"ghost session show {quarantined}",
        )
    return row


def _check_parent(
    row: SessionRow, clock: Clock, term: _Term, *, scopes: Sequence[str], contains: Contains
) -> None:
    sid = row.session_id
    if row.status != "live" or lifetime.expired(row, clock):
        raise DeniedError(
            f"session {sid}: has ended, it can have no children",
            code="session.parent_ended",
            hint="ghost session list",
        )
    if not contains(row.scopes, scopes):
        raise DeniedError(
            f"session {sid}: allows {', '.join(row.scopes) or 'nothing'}, the child asks for more",
            code="session.parent_scopes",
            hint="leave out the scopes that the parent does not have",
        )
    if term.deadline_us > row.deadline:
        left = lifetime.remaining_us(row, clock) // 1_000_000
        raise DeniedError(
            f"session {sid}: ends in {left} s, before the child would",
            code="session.parent_ttl",
            hint=f"ghost spawn --ttl {max(1, left)}",
        )
