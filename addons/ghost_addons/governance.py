"""The rules in force: read from the configuration, read again when a file of it changes.

A configuration that turned invalid refuses every request until it is mended: nothing falls back to the
rules of yesterday.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ghost_addons.record import Keeping
from ghost_core.errors import ConfigError
from ghost_core.settings import Settings
from ghost_credentials.binding import Credentials
from ghost_hooks.policy import Policy
from ghost_hooks.tools import sources

type Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Governance:
    """What one session is judged by: its policy, and the credentials that may be injected.

    `stamp` is that of the files beside the settings, which the policy was read from.
    """

    settings: Settings
    credentials: Credentials
    policy: Policy
    sources: tuple[str, ...] = ()
    stamp: Stamp = ()

    @property
    def fresh(self) -> bool:
        """Tell whether those files are as they were."""
        return not self.sources or self.stamp == stamp_of(self.sources)


@dataclass(slots=True)
class Governor:
    """Keeps the governance of each session, as fresh as the files it was read from."""

    load: Callable[[], Settings]
    files: Sequence[str]
    on_change: Callable[[Settings], None] = lambda _: None
    _stamp: Stamp = ()
    _settings: Settings | None = None
    _credentials: Credentials | None = None
    _cached: dict[tuple[str, ...], Governance] = field(default_factory=dict)

    def settings(self) -> Settings:
        """Return the settings as the files say now; raises ConfigError if they are broken."""
        stamp = stamp_of(self.files)
        if self._settings is None or stamp != self._stamp:
            self._settings = self._credentials = None
            self._cached.clear()
            self._require_files(stamp)
            self._settings = self.load()
            self._stamp = stamp
            self.on_change(self._settings)
        return self._settings

    def _require_files(self, stamp: Stamp) -> None:
        """Refuse while a file that held rules is gone or empty: an editor may be about to write it."""
        for file, before, now in zip(self.files, self._stamp, stamp, strict=False):
            if before[1] and not now[1]:
                raise ConfigError(
                    f"file {file!r}: held settings and is gone or empty now",
                    code="config.missing",
                    hint="restore it, or stop and start the proxy",
                )

    def in_force(self, scopes: tuple[str, ...]) -> Governance:
        """Return the governance for a session that holds these scopes."""
        settings = self.settings()
        found = self._cached.get(scopes)
        if found is None or not found.fresh:
            self._cached.pop(scopes, None)
            if self._credentials is None:
                self._credentials = Credentials.from_settings(settings)
            found = self._cached[scopes] = _governance(settings, self._credentials, scopes)
        return found

    def keeping(self) -> Keeping:
        """Return how much of a payload is stored; with a broken configuration, nothing is."""
        try:
            ledger = self.settings().ledger
        except ConfigError:
            return Keeping("none", 0)
        return Keeping(ledger.payloads, ledger.payload_limit)


def _governance(
    settings: Settings, credentials: Credentials, scopes: tuple[str, ...]
) -> Governance:
    """Read the policy; the stamp is from before, so that a change meanwhile shows at the next look."""
    files = tuple(map(str, sources(settings)))
    return Governance(
        sources=files,
        stamp=stamp_of(files),
        settings=settings,
        credentials=credentials,
        policy=Policy(settings, scopes),
    )


def stamp_of(files: Sequence[str]) -> Stamp:
    """Return what changes with any of the files."""
    return tuple(_stamp_of(file) for file in files)


def _stamp_of(file: str) -> tuple[int, int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
