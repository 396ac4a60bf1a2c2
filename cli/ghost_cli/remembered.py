"""What the commands of memory share: memory opened to read or to change, and the project that is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ghost_cli import inside, output
from ghost_cli.sessions import Opened
from ghost_core import paths
from ghost_core.clock import SystemClock
from ghost_core.errors import NotFoundError
from ghost_core.paths import home as ghost_home
from ghost_core.settings import Settings
from ghost_credentials.references import SecretSource
from ghost_memory import binding, projects
from ghost_memory.asking import Vectors
from ghost_memory.checkout import Checkout
from ghost_memory.journal import Journal, Who, Writing
from ghost_memory.looking import Place, Seen

BY = "cli"
CATCH_UP_SECONDS = 1.0


@contextmanager
def reading() -> Iterator[tuple[Seen, Settings]]:
    """Open memory to look at one state of it; where there is none yet it is empty, and none is made."""
    opened = Opened.now()
    with _place(opened).seen() as seen:
        yield seen, opened.settings


@contextmanager
def meaning(seen: Seen, settings: Settings) -> Iterator[Vectors | None]:
    """Open the vector leg; what has no vector yet gets one first, as far as there is time for it."""
    from ghost_memory.sense import Sense  # numpy, which only a search needs

    secrets = SecretSource(ghost_home(), seen.engine)
    clock = SystemClock()
    with Sense.open(settings, seen.engine, clock, secrets.resolve, background=False) as sense:
        if not sense.catch_up(CATCH_UP_SECONDS):
            output.note("some memories have no vector yet: they are found by their words only")
        yield sense.vectors


def preview[T](work: Callable[[Writing], T]) -> T:
    """Do a change and take it back, so that a preview says what would happen; nothing is entered."""
    return _place(Opened.now()).preview(Who(BY), work)


@contextmanager
def changing() -> Iterator[Journal]:
    """Open memory to change it; every change is an entry of the ledger, in the session we run in."""
    with Opened.now().recorder(with_memory=True) as recorder:
        yield Journal(recorder, SystemClock(), Who(BY, session=inside.session()))


def here_or_everywhere(seen: Seen, named: str) -> str | None:
    """Return the id of the project to search; None, which is all, in a directory that belongs to none."""
    if named:
        return projects.require(seen.connection, named).id
    found = projects.of_directory(seen.connection, paths.current())
    if found is None:
        output.note("the current directory belongs to no project: looking in all")
        return None
    return found.id


def here_or_new(writing: Writing, named: str) -> str:
    """Return the name or id of the project to save to; a repository that has none yet is bound to one."""
    if named:
        return named
    found = projects.of_directory(writing.connection, paths.current())
    if found is not None:
        return found.id
    place = Checkout.of(paths.current())
    if not place.root or projects.find(writing.connection, place.name) is not None:
        raise NotFoundError(
            "project: the current directory belongs to none",
            code="project.unknown",
            hint="name one with --project, or: ghost project bind NAME .",
        )
    return binding.bind(writing, place.name, paths.current()).id


def _place(opened: Opened) -> Place:
    return Place(opened.home, opened.settings.database.url, SystemClock())
