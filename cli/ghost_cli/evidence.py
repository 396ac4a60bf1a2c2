"""What the evidence commands share: the ledger opened for reading, and results written to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ghost_cli import output
from ghost_cli.sessions import Opened
from ghost_core import db
from ghost_core.clock import SystemClock
from ghost_core.errors import GhostError, NotFoundError, UnavailableError
from ghost_core.files import write_file
from ghost_core.look import is_link
from ghost_core.paths import Home
from ghost_ledger.reader import Ledger


class Kind(NamedTuple):
    """A kind of file that a command writes: what it is called, and how its bytes begin."""

    name: str
    starts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The ledger of a home."""

    home: Home
    ledger: Ledger


@contextmanager
def opened() -> Iterator[Evidence]:
    """Open the ledger, after sessions that ended without an owner were sealed.

    Raises:
        NotFoundError: code `ledger.missing`, there is no database yet.
        IntegrityError: code `ledger.rollback`, there is none any more.
    """
    from ghost_ledger import opening
    from ghost_ledger.session import sweep

    place, clock = Opened.now(), SystemClock()
    engine = db.engine(place.settings.database.url, home=place.home)
    try:
        if not db.exists(engine):
            opening.refuse_lost(engine, place.home)
            raise _missing(db.name(engine))
        db.migrate(engine)
        _sweep(place, clock, due=lambda: bool(sweep.due(engine, clock)))
        yield Evidence(place.home, Ledger(engine, place.home))
    finally:
        engine.dispose()


def tell_pruned(gone: Mapping[str, int]) -> None:
    """Say on stderr what is not shown since it was pruned."""
    if gone["sessions"]:
        output.note(
            f"{gone['sessions']} older sessions are not shown: {gone['entries']} entries below idx"
            f" {gone['below']} were pruned"
        )


def save(path: Path, data: bytes, kind: Kind) -> None:
    """Write a result at once and whole, for its owner only; it replaces one of its kind, and nothing else.

    A link is refused, not followed.

    Raises:
        UnavailableError: codes `file.link`, `file.occupied`, `file.unwritable`.
    """
    if is_link(path):
        raise UnavailableError(
            f"file {str(path)!r}: is a symbolic link, expected a file or nothing",
            code="file.link",
            hint="name the file that the link points to",
        )
    if _is_there(path) and not _is_of(kind, path):
        raise UnavailableError(
            f"file {str(path)!r}: exists and is no {kind.name} of ghost",
            code="file.occupied",
            hint="remove it, or name another file",
        )
    write_file(path, data, mode=0o600)


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except (OSError, ValueError):
        return False  # or nobody can tell: then it cannot be written either
    return True


def _is_of(kind: Kind, path: Path) -> bool:
    """Tell whether a file can go: of this kind, or empty as one that was made to be written to."""
    try:
        if not path.is_file():  # a pipe would be waited for
            return False
        with path.open("rb") as file:
            first = file.read(max(map(len, kind.starts)))
    except OSError:
        return False
    return not first or first.startswith(kind.starts)


def _missing(database: str) -> NotFoundError:
    return NotFoundError(
        f"ledger {database!r}: does not exist yet",
        code="ledger.missing",
        hint="ghost spawn --intent … --scope …, or set GHOST_HOME",
    )


def _sweep(place: Opened, clock: SystemClock, *, due: Callable[[], bool]) -> None:
    """Seal what expired; a ledger that refuses to be written is still shown, with its verdict."""
    from ghost_ledger.recorder import Recorder
    from ghost_ledger.session import sweep

    try:
        if due():
            with Recorder.open(place.home, place.settings.database.url, clock=clock) as recorder:
                sweep.sweep(recorder, place.home, clock)
    except (GhostError, ValueError) as error:
        output.warn(f"sessions that ended could not be sealed: {error}")
