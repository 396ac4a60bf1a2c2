"""The server behind every transport: opens memory when it is first needed, and answers whatever is asked.

Calls come from several threads at once. A call that fails is answered with what to do about it; what nobody
expected is answered too, without its text, and logged.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ghost_core.clock import Clock, SystemClock
from ghost_core.errors import GhostError, NotFoundError, UnavailableError
from ghost_memory.limits import cut, fit, plain
from ghost_memory.server.answer import Answer
from ghost_memory.server.catalogue.prompts import PROMPTS
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.parameters import read

if TYPE_CHECKING:  # the store behind it is loaded with the first call
    from sqlalchemy.engine import Engine

    from ghost_memory.server.desk import Desk

__all__ = ["Caller", "Failure", "Opened", "Service"]

NAME_BYTES: Final = 100

_log: Final = logging.getLogger("ghost.mcp")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the client program by name and version, and the session of ours it runs in."""

    host: str = ""
    session: str = ""

    @classmethod
    def of(cls, name: str, version: str, session: str) -> Caller:
        """Name a client as it named itself, cut to a sensible length."""
        said = "/".join(each.strip() for each in (plain(name), plain(version)) if each.strip())
        return cls(cut(said, NAME_BYTES).text, session)


class Failure(Exception):  # noqa: N818  # an answer, not an error of ours
    """What is answered instead of a result; `missing` tells that the thing asked for does not exist."""

    def __init__(self, text: str, *, missing: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.missing = missing


class Opened(Protocol):
    """Memory, opened: a place to work at for each caller."""

    def desk(self, caller: Caller) -> Desk:
        """Return the place of a caller."""
        ...

    def close(self) -> None:
        """End what works in the background, and close the store."""
        ...


class Service:
    """Tools, resources and prompts over a store that is opened at the first call."""

    def __init__(self, opening: Callable[[], Opened], clock: Clock | None = None) -> None:
        self.clock = clock or SystemClock()
        self._opening = opening
        self._opened: Opened | None = None
        self._lock = threading.Lock()
        self._closed = False

    def open(self) -> Opened:
        """Return the store; a first attempt that fails is made again at the next call."""
        with self._lock:
            if self._closed:
                raise UnavailableError("memory: the server is ending", code="memory.closed")
            if self._opened is None:
                self._opened = self._opening()
            return self._opened

    def call(self, name: str, arguments: Mapping[str, object], caller: Caller) -> Answer:
        """Run a tool. Raises Failure for a tool that does not exist."""
        tool = TOOLS.get(name)
        if tool is None:
            raise Failure(f"Unknown tool: {fit(name, 80).text}", missing=True)
        try:
            values = read(name, tool.parameters, arguments)
            answer: Answer = tool.load()(self.open().desk(caller), **values)
        except GhostError as error:
            return Answer(_said(error), failed=True)
        except Exception as error:  # noqa: BLE001  # every request gets an answer
            return Answer(_unexpected(name, error), failed=True)
        return answer

    def read(self, uri: str, caller: Caller) -> str:
        """Return the text of a resource. Raises Failure."""
        from ghost_memory.server import resources

        return self._told(uri, lambda: resources.read(self.open().desk(caller), uri))

    def prompt(self, name: str, arguments: Mapping[str, object], caller: Caller) -> str:
        """Return the message of a prompt. Raises Failure."""
        prompt = PROMPTS.get(name)
        if prompt is None:
            raise Failure(f"Unknown prompt: {fit(name, 80).text}", missing=True)

        def render() -> str:
            from ghost_memory.server.prompts import RENDERED

            values = read(name, prompt.parameters, arguments)
            return RENDERED[name](self.open().desk(caller), **values)

        return self._told(name, render)

    def engine(self) -> Engine:
        """Return the database, for what watches it. Raises as opening the store."""
        return self.open().desk(Caller()).journal.engine

    def close(self) -> None:
        """Close the store, if it was ever opened."""
        with self._lock:
            opened, self._opened, self._closed = self._opened, None, True
        if opened is not None:
            opened.close()

    def _told(self, what: str, work: Callable[[], str]) -> str:
        try:
            return work()
        except GhostError as error:
            raise Failure(_said(error), missing=isinstance(error, NotFoundError)) from error
        except Exception as error:
            raise Failure(_unexpected(what, error)) from error


def _said(error: GhostError) -> str:
    return f"{error.message}\n{error.hint}" if error.hint else error.message


def _unexpected(what: str, error: Exception) -> str:
    """Log kind and place of a mistake of ours, and say its kind: its text may hold what was stored."""
    frames = traceback.extract_tb(error.__traceback__)
    place = (
        f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
    )
    _log.error("%r: unexpected %s at %s", what[:100], type(error).__name__, place)
    return f"unexpected {type(error).__name__} in ghost; nothing was changed"
