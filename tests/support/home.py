"""A GHOST_HOME of a test: `ghost.toml`, a secret in a file, a short runtime folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.database import prepare
from support.processes import free_port

if TYPE_CHECKING:
    from support.certs import Certs
    from support.upstream import Upstream

SECRET = "sk_live_51QtestOnlyReal8841"
PLACEHOLDER = "sk_ghost_51QtestOnlyHeld0000"

type Toml = str | int | bool | list[str] | Mapping[str, "Toml"]


@dataclass(frozen=True, slots=True)
class GhostHome:
    """Where one test's ghost lives; `port` is the proxy port of its configuration."""

    root: Path
    runtime: Path
    port: int
    secret: str = SECRET
    placeholder: str = PLACEHOLDER

    @property
    def config(self) -> Path:
        """The `ghost.toml`."""
        return self.root / "ghost.toml"

    @property
    def env(self) -> dict[str, str]:
        """A clean environment for `ghost` commands: nothing of the user's, no secret."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.root),
            "GHOST_HOME": str(self.root),
            "XDG_RUNTIME_DIR": str(self.runtime),
        }

    def append(self, text: str) -> None:
        """Add TOML at the end of the configuration."""
        with self.config.open("a", encoding="utf-8") as config:
            config.write(f"\n{text}\n")

    def hook(self, name: str, text: str) -> Path:
        """Write an executable hook."""
        path = self.root / "hooks" / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o700)
        return path


@contextmanager
def ghost_home(
    folder: Path,
    up: Upstream | None = None,
    certs: Certs | None = None,
    **tables: Mapping[str, Toml],
) -> Iterator[GhostHome]:
    """Make a home: tool `demo_api` for an upstream, a bearer credential `demo`, its CA and an empty database.

    `tables` are merged over the configuration by their top-level name, two levels deep:
    `proxy={"record": "all"}`, `tools={"demo_api": {"actions": {…}}}`.
    """
    root = folder / "home"
    root.mkdir(mode=0o700, parents=True)
    prepare(root)
    # A socket path has room for about 100 characters; a test's own folder is often longer.
    runtime = Path(tempfile.mkdtemp(prefix="gh"))
    port = free_port()
    secret = root / "demo.secret"
    secret.write_text(SECRET + "\n", encoding="utf-8")
    secret.chmod(0o600)
    config = _configuration(up, certs, secret, port)
    for name, table in tables.items():
        config[name] = _merged(config.get(name, {}), table)
    made = GhostHome(root, runtime, port)
    made.config.write_text(_toml(config), encoding="utf-8")
    made.config.chmod(0o600)
    try:
        yield made
    finally:
        shutil.rmtree(runtime, ignore_errors=True)


def _configuration(
    up: Upstream | None, certs: Certs | None, secret: Path, port: int
) -> dict[str, Mapping[str, Toml]]:
    proxy: dict[str, Toml] = {"port": port}
    if certs is not None:
        proxy["upstream_ca"] = str(certs.ca)
    if up is None:
        return {"proxy": proxy}
    proxy["allow_private"] = [up.authority]
    credential: dict[str, Toml] = {
        "kind": "bearer",
        "secret": f"file:{secret}",
        "hosts": [up.authority],
        "placeholder": PLACEHOLDER,
    }
    return {
        "proxy": proxy,
        "credentials": {"demo": credential},
        "tools": {"demo_api": {"credential": "demo", "base_url": up.url}},
    }


def _merged(old: Mapping[str, Toml], new: Mapping[str, Toml]) -> dict[str, Toml]:
    merged = dict(old)
    for name, value in new.items():
        before = merged.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[name] = {**before, **value}
        else:
            merged[name] = value
    return merged


def _toml(table: Mapping[str, Toml], path: str = "") -> str:
    plain = {k: v for k, v in table.items() if not isinstance(v, Mapping)}
    lines = [f"[{path}]"] if path and plain else []
    lines += [f"{json.dumps(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in table.items():
        if isinstance(value, Mapping):
            key = json.dumps(name)
            lines.append(_toml(value, f"{path}.{key}" if path else key))
    return "\n".join(lines)


def _value(value: Toml) -> str:
    # JSON strings, numbers, booleans and arrays of them are TOML as well.
    return json.dumps(value, ensure_ascii=False)
