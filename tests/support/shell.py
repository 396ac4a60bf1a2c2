"""Quick doors to a home: commands run in this process, sessions spawned, entries read, blocks of environment.

What a test is about runs as a real process (`support.processes`); what it only needs, here.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ghost_cli.main import main
from ghost_core import db
from ghost_core.paths import Home
from ghost_ledger import entry
from ghost_ledger.entry import Entry
from ghost_ledger.reader import Ledger
from support.processes import Outcome

if TYPE_CHECKING:
    from support.home import GhostHome

WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Session:
    """A spawned session, as its agent knows it."""

    sid: str
    token: str
    url: str

    @property
    def auth(self) -> tuple[str, str]:
        """What a proxy client presents."""
        return self.sid, self.token


def inside(
    home: GhostHome, *arguments: str, stdin: str = "", env: Mapping[str, str] | None = None
) -> Outcome:
    """Run one command in this process, under the home's environment."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**home.env, **(env or {})}.items():
            patch.setenv(name, value)
        patch.chdir(home.root)
        patch.setattr(
            sys,
            "stdin",
            io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogateescape")), "utf-8"),
        )
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    return Outcome(code, out.getvalue(), err.getvalue())


def spawn(home: GhostHome, *scopes: str, ttl: int = 1800) -> Session:
    """Spawn a session."""
    words = [word for scope in scopes for word in ("--scope", scope)]
    done = inside(home, "spawn", "--intent", "test", "--ttl", str(ttl), *words)
    assert done.code == 0, done.err
    made = done.json
    return Session(made["session_id"], made["token"], made["proxy_url"])


def block(home: GhostHome, session: Session, *words: str) -> dict[str, str]:
    """Return the environment block of a session: what `possess --env` sets."""
    done = inside(home, "possess", "--env", "--shell", "json", "--session-id", session.sid, *words)
    assert done.code == 0, done.err
    values: dict[str, str] = json.loads(done.out)["values"]
    return values


@contextmanager
def ledger(home: GhostHome) -> Iterator[Ledger]:
    """Open the home's ledger for reading."""
    place = Home(home.root)
    engine = db.engine(f"sqlite:///{place.database}", home=place)
    try:
        yield Ledger(engine, place)
    finally:
        engine.dispose()


def entries(home: GhostHome, session: Session | str, type_: str = "") -> list[Entry]:
    """Return the entries of a session in order, all or those of one type."""
    sid = session if isinstance(session, str) else session.sid
    with ledger(home) as opened:
        found = [entry.parse(stored.body) for stored in opened.entries(sid)]
    return [each for each in found if type_ in ("", each.type)]


def types(home: GhostHome, session: Session | str) -> list[str]:
    """Return the types of a session's entries."""
    return [each.type for each in entries(home, session)]


def stored(home: GhostHome, session: Session) -> bytes:
    """Return every payload that the ledger keeps of a session, in one piece."""
    with ledger(home) as opened:
        return b"\n".join(item.data or b"" for item in opened.payloads(session.sid))


def eventually(holds: Callable[[], Any], what: str, *, seconds: float = WAIT_SECONDS) -> Any:
    """Look every 20 ms until something holds, and return it; raises TimeoutError."""
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if found := holds():
            return found
        pause.wait(0.02)
    raise TimeoutError(f"expected {what} within {seconds:g} s")
