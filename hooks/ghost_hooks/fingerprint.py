"""The policy's hash: equal exactly when scopes, rules, tools, bindings, limits and hook files are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ghost_core.settings import Settings
from ghost_hooks.folder import HookFolder, Stamp, stamp
from ghost_hooks.rules import RuleFolder
from ghost_hooks.tools import Catalogue


class Fingerprint:
    """Hashes the fixed part once, and hook files again only when they change."""

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        scopes: Sequence[str],
        *,
        hooks: HookFolder,
        rules: RuleFolder,
    ) -> None:
        self._fixed = _fixed(settings, catalogue, scopes)
        self._hooks = hooks
        self._rules = rules
        self._seen: dict[str, tuple[Stamp, str]] = {}

    def hex(self) -> str:
        """Return the SHA-256 of what is in force now, as hex; raises OSError, ConfigError."""
        found = {
            **self._fixed,
            "hooks": {name: self._hash_of(name) for name in self._hooks.listing().names},
            "rule_files": {
                name: hashlib.sha256(data).hexdigest() for name, data in self._rules.texts().items()
            },
        }
        return hashlib.sha256(_canonical(found)).hexdigest()

    def _hash_of(self, name: str) -> str:
        path = self._hooks.folder / name
        try:
            mark = stamp(path.stat())
            seen = self._seen.get(name)
            if seen is None or seen[0] != mark:
                self._seen[name] = seen = (mark, _digest(path))
        except OSError:
            return "unreadable"
        return seen[1]


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
