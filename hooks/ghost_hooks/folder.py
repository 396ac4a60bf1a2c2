"""The folder of hook files: which files judge a call, and whether a file may be trusted to."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

type Stage = Literal["pre", "post"]
type Stamp = tuple[int, int, int, int, int]

FILE_LIMIT = 64 * 1024 * 1024
_IGNORED = ("~", ".bak", ".swp")
_ODD = re.compile(r"[^A-Za-z0-9_.-]")
# What changed this recently may change again within the same time stamp.
_SETTLED_NS = 200_000_000
_CALLS_LIMIT = 4096


class UnsafeError(Exception):
    """A hook file cannot be trusted; the text says why."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook file; `expected` is the hash that it must have, `problem` why it can only refuse.

    With a `url` there is no file: the receiver there judges.
    """

    path: Path
    root: Path
    expected: str = ""
    problem: str = ""
    url: str = ""

    @property
    def name(self) -> str:
        """The file's name, which is the rule's name in verdicts."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a hook file as read once, their SHA-256, and what a change would change."""

    path: Path
    data: bytes
    hash: str
    stamp: Stamp
    executable: bool


class Listing:
    """The files of a hook folder at one moment; `problem` says why it may not be trusted."""

    __slots__ = ("_found", "folder", "names", "problem")

    def __init__(self, folder: Path, names: tuple[str, ...] = (), problem: str = "") -> None:
        self.folder = folder
        self.names = names
        self.problem = problem
        self._found: dict[tuple[str, str, Stage], tuple[Hook, ...]] = {}

    def find(self, tool: str, action: str, stage: Stage) -> tuple[Hook, ...]:
        """Return the files for a call: the action's, the tool's, everybody's.

        A folder that others may write answers with one hook that refuses.
        """
        key = (tool, action, stage)
        hooks = self._found.get(key)
        if hooks is None:
            hooks = self._matching(tool, action, stage)
            if len(self._found) < _CALLS_LIMIT:
                self._found[key] = hooks
        return hooks

    def _matching(self, tool: str, action: str, stage: Stage) -> tuple[Hook, ...]:
        if self.problem:
            problem = f"hook folder {self.problem}"
            return (Hook(self.folder, self.folder, problem=problem),)
        tool, action = _ODD.sub("_", tool), _ODD.sub("_", action)
        stems = (f"{tool}_{action}_{stage}", f"{tool}_{stage}", f"_{stage}")
        chosen = [
            name
            for stem in stems
            for name in self.names
            if name == stem or name.startswith(f"{stem}.")
        ]
        return tuple(Hook(self.folder / name, self.folder) for name in dict.fromkeys(chosen))


class HookFolder:
    """Finds hook files by name; the listing is kept until the folder changes."""

    def __init__(self, folder: Path, *, now_ns: Callable[[], int] = time.time_ns) -> None:
        self.folder = folder
        self._path = str(folder)  # asked for at every call, and a Path is slow to look up
        self._now_ns = now_ns
        self._seen: tuple[int, ...] = ()
        self._listing = self._none = Listing(folder)

    def listing(self) -> Listing:
        """Return the folder as it is now; one that does not exist is empty. Raises OSError."""
        try:
            found = os.stat(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return self._none
        seen = (
            found.st_dev,
            found.st_ino,
            found.st_mode,
            found.st_mtime_ns,
            found.st_ctime_ns,
        )
        if seen != self._seen:
            read_at = self._now_ns()
            self._listing = Listing(self.folder, self._scan(), _problem(found))
            self._seen = seen if settled(stamp(found), read_at) else ()
        return self._listing

    def find(self, tool: str, action: str, stage: Stage) -> tuple[Hook, ...]:
        """Return the files that judge a call now; raises OSError for an unreadable folder."""
        return self.listing().find(tool, action, stage)

    def _scan(self) -> tuple[str, ...]:
        with os.scandir(self.folder) as entries:
            return tuple(sorted(each.name for each in entries if counts(each.name)))


def read(hook: Hook) -> Content:
    """Read a hook file once; raises UnsafeError for anything but a private file in its folder."""
    if hook.problem:
        raise UnsafeError(hook.problem)
    try:
        real, root = hook.path.resolve(strict=True), hook.root.resolve(strict=True)
        if not real.is_relative_to(root):
            raise UnsafeError("leads out of its folder")
        _check_folder(real.parent)
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            _check_file(found)
            data = file.read(FILE_LIMIT + 1)
    except (OSError, RuntimeError) as error:
        # RuntimeError is a loop of links.
        raise UnsafeError("cannot be read") from error
    if len(data) > FILE_LIMIT:
        raise UnsafeError("is larger than 64 MiB")
    executable = os.access(real, os.X_OK) and bool(found.st_mode & 0o111)
    content = Content(real, data, hashlib.sha256(data).hexdigest(), stamp(found), executable)
    if hook.expected and hook.expected != content.hash:
        raise UnsafeError("is not the file that was named, its hash differs")
    return content


def stamp(found: os.stat_result) -> Stamp:
    """Return what changes with every change of a file; ctime cannot be set back."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def settled(found: Stamp, read_at_ns: int) -> bool:
    """Tell whether a later change is sure to show: time stamps are coarser than writes."""
    return read_at_ns - max(found[3], found[4]) > _SETTLED_NS


def counts(name: str) -> bool:
    """Tell whether a file in the folder is one: hidden files and left-overs of editors are not."""
    return not name.startswith(".") and not name.endswith(_IGNORED)


def _check_folder(folder: Path) -> None:
    problem = _problem(folder.stat())
    if problem:
        raise UnsafeError(f"lies in a folder that {problem}")


def _check_file(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise UnsafeError("is no file")
    problem = _problem(found)
    if problem:
        raise UnsafeError(problem)


def _problem(found: os.stat_result) -> str:
    """Return why somebody else could have written it; our own group is not somebody else."""
    if found.st_uid not in {0, os.geteuid()}:
        return "belongs to another user"
    foreign_group = found.st_gid != os.getegid()
    if found.st_mode & 0o002 or (found.st_mode & 0o020 and foreign_group):
        return "can be written by others"
    return ""
