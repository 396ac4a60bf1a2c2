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
from ghost_hooks.tools import Catalogue

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
        self._folder = settings.hooks.dir
        self._now_ns = now_ns
        self._seen: dict[Path, tuple[Stamp, str]] = {}

    def hex(self) -> str:
        """Return the SHA-256 of what is in force now, as hex; it never fails, refusals need it too."""
        found = {
            **self._fixed,
            "hooks": self._hashes(self._folder, counts),
            "rule_files": self._hashes(self._folder / RULES, is_rule_file),
        }
        return hashlib.sha256(_canonical(found)).hexdigest()

    def _hashes(self, folder: Path, wanted: Callable[[str], bool]) -> dict[str, str] | str:
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries if wanted(entry.name))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError:
            return _UNREADABLE
        return {name: self._hash_of(folder / name) for name in names}

    def _hash_of(self, path: Path) -> str:
        try:
            mark = stamp(path.stat())
            seen = self._seen.get(path)
            if seen is not None and seen[0] == mark:
                return seen[1]
            read_at, found = self._now_ns(), _digest(path)
        except OSError:
            return _UNREADABLE
        if settled(mark, read_at):
            self._seen[path] = (mark, found)
        return found


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
        "schemas": _schema_files(catalogue),
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


def _schema_files(catalogue: Catalogue) -> dict[str, str]:
    sources = (
        source
        for actions in catalogue.actions.values()
        for spec in actions.values()
        for source in (spec.request_schema, spec.response_schema)
    )
    return {str(path): _digest(path) for path in sources if isinstance(path, Path)}


def _canonical(found: Mapping[str, object]) -> bytes:
    return json.dumps(found, sort_keys=True, separators=(",", ":"), default=str).encode()
