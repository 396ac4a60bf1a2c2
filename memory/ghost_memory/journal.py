"""The one door through which memory changes: the rows and the entry that says so, in one transaction.

An entry names the memory, the kind of change, who made it, and commits to the text without holding it, so
erasing a memory leaves the chain whole and the text nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy.engine import Connection, Engine

from ghost_core import db, ids, log
from ghost_core.clock import Clock
from ghost_core.errors import UnavailableError
from ghost_ledger.canonical import Value
from ghost_ledger.commitment import commit
from ghost_ledger.drafts import Draft, Payload
from ghost_ledger.recorder import Recorder
from ghost_ledger.store import time_text
from ghost_memory import erasing
from ghost_memory.limits import cut, fit

__all__ = ["Change", "Journal", "Who", "Writing"]

CHANGED = "memory.changed"
_NAME_BYTES = 256
_REASON_BYTES = 300


@dataclass(frozen=True, slots=True)
class Who:
    """Who changes memory: by what way, from which host program, inside which session of ours.

    Names come from outside: what an entry could not hold is left out, so that no name stops a save.
    """

    by: str
    host: str = ""
    session: str = ""

    def __post_init__(self) -> None:
        """Keep what is fit to be entered."""
        object.__setattr__(self, "by", _name(self.by))
        object.__setattr__(self, "host", _name(self.host))
        object.__setattr__(self, "session", self.session if ids.is_session_id(self.session) else "")


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one thing; `content` is committed to, never entered."""

    subject: str
    kind: str
    project: str = ""
    content: str | None = None
    reason: str = ""


@dataclass(slots=True)
class Writing:
    """What a change works with: the connection of the transaction, its time, and the changes it reports."""

    connection: Connection
    now: str
    who: Who
    changes: list[Change]
    removes: bool = False

    def report(self, change: Change) -> None:
        """Have the change entered, once, when the transaction ends."""
        self.changes.append(change)

    def remove_words(self) -> None:
        """Have the words of removed texts leave the full-text index before the change returns."""
        erasing.mark(self.connection)
        self.removes = True


class Journal:
    """Reads and changes memory in the shared database."""

    def __init__(self, recorder: Recorder, clock: Clock, who: Who) -> None:
        self._recorder = recorder
        self._clock = clock
        self.who = who

    @property
    def engine(self) -> Engine:
        """The database, for what watches it."""
        return self._recorder.engine

    def now(self) -> str:
        """Return the time as rows hold it."""
        return time_text(self._clock.now_us())

    def read(self) -> AbstractContextManager[Connection]:
        """Open a read transaction: everything in it sees one state."""
        return db.read(self._recorder.engine)

    def write[T](self, work: Callable[[Writing], T]) -> T:
        """Run a change; its rows and entries are durable when this returns, or neither is there.

        Raises what `work` raises, and UnavailableError where nothing can be written.
        """
        removes = False

        def both(connection: Connection) -> tuple[T, Sequence[Draft]]:
            nonlocal removes
            writing = Writing(connection, self.now(), self.who, [])
            result = work(writing)
            removes = writing.removes
            return result, [_draft(self.who, change) for change in writing.changes]

        result = self._recorder.change(both, inside=self.who.session)
        if removes:
            self._remove_words()
        return result

    def _remove_words(self) -> None:
        """Take words out of the index; the change is durable already, so what fails here is left marked."""
        try:
            erasing.finish(self._recorder.engine)
        except UnavailableError as error:
            log.events(__name__).warning("memory.words_waiting", why=error.message)


def _name(text: str) -> str:
    return fit(text, _NAME_BYTES).text


def _draft(who: Who, change: Change) -> Draft:
    """Draft the entry of a change; the recorder knows in which session it goes."""
    fields: dict[str, Value] = {
        "memory": cut(change.subject, _NAME_BYTES).text,
        "change": change.kind,
        "by": who.by,
    }
    optional = {
        "project": cut(change.project, _NAME_BYTES).text,
        "host": who.host,
        "session": who.session,
        "reason": cut(change.reason, _REASON_BYTES).text,
    }
    fields.update({name: value for name, value in optional.items() if value})
    payloads: tuple[Payload, ...] = ()
    if change.content is not None:
        data = change.content.encode()
        salt, committed = commit("content", data)
        fields["content"] = committed
        payloads = (Payload("content", salt, committed, None, len(data), "text/plain"),)
    return Draft("", CHANGED, ids.entry_id(), fields, payloads)
