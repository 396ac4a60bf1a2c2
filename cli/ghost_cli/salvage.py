"""A home opened although its configuration is broken: to end and to list sessions must not depend on it.

All that this needs is the place of the database, which a broken file may still say, or a living owner knows.
"""

from __future__ import annotations

from pathlib import Path

from ghost_cli import output
from ghost_cli.sessions import Opened
from ghost_core import settings as configuration
from ghost_core import trust
from ghost_core.errors import ConfigError, GhostError
from ghost_core.paths import Home, current, runtime_dir
from ghost_core.paths import home as ghost_home
from ghost_core.settings_sources import project_file, read_file

OWNER_SECONDS = 2.0
_KEY = "database.url"


def opened() -> Opened:
    """Open the home of this process; raises ConfigError where its database cannot be known.

    With a broken configuration nobody is told of events, and no payload is stored.
    """
    try:
        return Opened.now()
    except ConfigError as error:
        home = ghost_home()
        url = _said(home) or _told(home)
        if not url:
            raise
        output.warn(f"{error.message}; going on without it, webhooks and triggers hear nothing")
        tree = {"database": {"url": url}, "ledger": {"payloads": "none"}}
        return Opened(home, configuration.Settings.model_validate(tree))


def _said(home: Home) -> str:
    """Return the place that the sources say; empty if the one that may say it cannot be read."""
    try:
        return str(configuration.peek(_KEY)[_KEY])
    except ConfigError:
        pass
    try:
        if not _is_of_a_stranger(home):
            return ""
        return str(configuration.peek(_KEY, cwd=Path("/"))[_KEY])
    except ConfigError:
        return ""


def _is_of_a_stranger(home: Home) -> bool:
    """Tell whether there is a project's file that nobody has trusted: it may not move the database."""
    path = project_file(home, current())
    return path is not None and not trust.trusted(home, path, read_file(path))


def _told(home: Home) -> str:
    """Return the place that a living owner of this home has open; empty if there is none."""
    from ghost_ledger.session import control

    for folder in sorted(runtime_dir().glob("gh_*")):
        try:
            answer = control.ask(folder.name, {"op": "status"}, timeout=OWNER_SECONDS)
        except GhostError:
            continue
        if answer.get("home") == str(home.root.resolve()):
            return str(answer.get("database") or "")
    return ""
