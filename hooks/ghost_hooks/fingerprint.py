"""The policy's hash: equal exactly when scopes, rules, tools, bindings, limits and hook files are."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ghost_core.settings import Settings
from ghost_hooks.folder import Stamp, counts, settled, stamp
from ghost_hooks.rules import is_rule_file
from ghost_hooks.tools import Catalogue, sources

RULES = "rules"
_UNREADABLE = "unreadable"


class Fingerprint:
    """Hashes the fixed part once, and hook and rule files again only when they change."""

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        scopes: Sequence[str],
        *,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._fixed = _fixed(settings, catalogue, scopes)
        self._hooks = _Names(settings.hooks.dir, counts, now_ns)
        self._rules = _Names(settings.hooks.dir / RULES, is_rule_file, now_ns)
        self._now_ns = now_ns
        self._seen: dict[str, tuple[Stamp, str]] = {}
        self._last: tuple[object, str] = (None, "")

    def hex(self) -> str:
        """Return the SHA-256 of what is in force now, as hex; it never fails, refusals need it too."""
        hooks, rules = self._hashes(self._hooks), self._hashes(self._rules)
        if self._last[0] != (hooks, rules):
            found = {**self._fixed, "hooks": hooks, "rule_files": rules}
            self._last = (hooks, rules), hashlib.sha256(_canonical(found)).hexdigest()
        return self._last[1]

    def _hashes(self, folder: _Names) -> dict[str, str] | str:
        names = folder.current()
        if names is None:
            return _UNREADABLE
        return {name: self._hash_of(f"{folder.path}/{name}") for name in names}

    def _hash_of(self, path: str) -> str:
        try:
            mark = stamp(os.stat(path))
            seen = self._seen.get(path)
            if seen is not None and seen[0] == mark:
                return seen[1]
            read_at, found = self._now_ns(), _digest(Path(path))
        except OSError:
            return _UNREADABLE
        if settled(mark, read_at):
            self._seen[path] = (mark, found)
        return found


class _Names:
    """The names of a folder's files, listed again when the folder changed."""

    def __init__(
        self, folder: Path, wanted: Callable[[str], bool], now_ns: Callable[[], int]
    ) -> None:
        self.path = str(folder)
        self._wanted = wanted
        self._now_ns = now_ns
        self._mark: Stamp | None = None
        self._names: tuple[str, ...] = ()

    def current(self) -> tuple[str, ...] | None:
        """Return the names, sorted; empty where there is no folder, None where it is unreadable."""
        try:
            mark = stamp(os.stat(self.path))
            if mark != self._mark:
                read_at = self._now_ns()
                self._names = tuple(sorted(filter(self._wanted, os.listdir(self.path))))
                self._mark = mark if settled(mark, read_at) else None
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError:
            return None
        return self._names


def _digest(path: Path) -> str:
    """Hash a file; folders beside hooks count by name only."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"


def _fixed(settings: Settings, catalogue: Catalogue, scopes: Sequence[str]) -> dict[str, object]:
    return {
        "scopes": sorted(scopes),
        "rules": [rule.model_dump(mode="json") for rule in settings.rules],
        "tools": {name: tool.model_dump(mode="json") for name, tool in settings.tools.items()},
        "actions": {
            name: {key: spec.model_dump(mode="json") for key, spec in actions.items()}
            for name, actions in catalogue.actions.items()
        },
        "schemas": {str(path): _digest(path) for path in sources(settings)},
        "credentials": {
            name: {"kind": each.kind, "hosts": list(each.hosts)}
            for name, each in settings.credentials.items()
        },
        "proxy": {
            "buffer_limit": settings.proxy.buffer_limit,
            "scrub": settings.proxy.scrub,
            "allow_private": list(settings.proxy.allow_private),
        },
    }


def _canonical(found: Mapping[str, object]) -> bytes:
    return json.dumps(found, sort_keys=True, separators=(",", ":"), default=str).encode()
