"""The home and the runtime folder: who may read them, and what the dead left there; nothing is made."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

from ghost_cli import running
from ghost_cli.doctor.check import Check, fail, ok, warn
from ghost_core import ids, settings
from ghost_core.paths import Home, runtime_place

_PRIVATE = ("keys", "heads", "ca", "logs", "hooks")


def examine_home(home: Home) -> Iterator[Check]:
    """Look at the owner and the permissions of the home and of what must be private in it."""
    root = home.root
    if not os.path.lexists(root):
        yield _missing(root)
        return
    problems = list(_problems(home))
    if problems:
        yield from problems
    elif not os.access(root, os.W_OK | os.X_OK):
        yield fail("home", f"{root} cannot be written", f"chmod 700 {root}")
    else:
        yield ok("home", f"{root}, private")


def _missing(root: Path) -> Check:
    parent = next(each for each in root.parents if each.exists())
    if os.access(parent, os.W_OK | os.X_OK):
        return ok("home", f"{root} does not exist yet; the first command makes it")
    return fail("home", f"{root} cannot be made in {parent}", "export GHOST_HOME=DIR")


def _problems(home: Home) -> Iterator[Check]:
    root = home.root
    if not root.is_dir():
        yield fail("home", f"{root} is no folder", "export GHOST_HOME=DIR")
        return
    if root.stat().st_uid != os.geteuid():
        yield fail("home", f"{root} belongs to another user", "export GHOST_HOME=DIR")
        return
    wide = [path for path in _to_be_private(home) if path.stat().st_mode & 0o077]
    if wide:
        named = ", ".join(f"{path} {stat.S_IMODE(path.stat().st_mode):04o}" for path in wide[:5])
        mend = f"chmod -R go= {' '.join(str(path) for path in wide[:5])}"
        yield fail("home", f"others may enter or read {named}", mend)


def _to_be_private(home: Home) -> Iterator[Path]:
    candidates = [home.root, *(home.root / name for name in _PRIVATE)]
    candidates += [home.config, home.database, home.ca / "ghost-ca.pem"]
    candidates += sorted(home.keys.glob("*")) if home.keys.is_dir() else []
    yield from (path for path in candidates if path.exists() and not path.is_symlink())


def examine_runtime(home: Home) -> Iterator[Check]:
    """Look at the folder of live sessions: whether it is ours, and what nobody will come back for."""
    folder = runtime_place()
    if not os.path.lexists(folder):
        yield ok("runtime", f"{folder} does not exist yet; the first session makes it")
        return
    found = folder.lstat()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if not ours or found.st_mode & 0o077:
        mend = "export XDG_RUNTIME_DIR=DIR"
        yield fail("runtime", f"{folder} is no folder of ours with mode 0700", mend)
        return
    stale = _stale(home, folder)
    if stale:
        named = ", ".join(path.name for path in stale[:5])
        paths = " ".join(str(path) for path in stale[:5])
        yield warn("runtime", f"{folder} holds what the dead left: {named}", f"rm -r {paths}")
    else:
        yield ok("runtime", f"{folder}, private")


def _stale(home: Home, folder: Path) -> list[Path]:
    """Return notes of proxies that do not run, and folders of sessions that are over."""
    notes = [path for path, each in running.notes(folder) if each is None or not each.runs()]
    over = _over(home)
    return notes + [path for path in sorted(folder.glob("gh_*")) if _is_over(path, over)]


def _is_over(path: Path, over: frozenset[str]) -> bool:
    """Tell whether nothing owns the folder and its session is sealed; others may be another home's."""
    from ghost_ledger.session.custody import is_owned

    if not ids.is_session_id(path.name) or path.name not in over:
        return False
    return not is_owned(path.name, root=path.parent)


def _over(home: Home) -> frozenset[str]:
    """Return the sessions that the ledger knows as ended; read without making a file."""
    url = str(settings.peek("database.url")["database.url"])
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:") or not path.is_file() or not home.root.is_dir():
        return frozenset()
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as db:
            rows = db.execute("SELECT session_id FROM sessions WHERE evaporated_at IS NOT NULL")
            return frozenset(str(row[0]) for row in rows)
    except sqlite3.Error:
        return frozenset()  # the ledger's own commands say what is wrong with it
