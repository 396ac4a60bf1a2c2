"""Trust in files that arrive with a project: a path and the hash of its bytes, kept in the home.

A project's `ghost.toml` comes with a clone. What it says about executables, scopes, credentials, trust
anchors and addresses counts only once the user has recorded the hash of exactly these bytes.
"""

from __future__ import annotations

import json
from pathlib import Path

from ghost_core.errors import ConfigError
from ghost_core.paths import Home

SCHEMA = "ghost/trust/v1"


def register(home: Home) -> Path:
    """Return the file that holds the recorded hashes."""
    return home.root / "trust.json"


def file_hash(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes, 64 hex digits."""
    import hashlib  # 3 ms that a start without a project's file need not pay

    return hashlib.sha256(data).hexdigest()


def trusted(home: Home, path: Path, data: bytes) -> bool:
    """Tell whether the user trusts this file with exactly these bytes.

    Raises ConfigError if the register cannot be read: unknown trust is not the same as none.
    """
    import hmac

    known = _read(home).get(str(path.resolve()), "")
    return hmac.compare_digest(known, file_hash(data))


def record(home: Home, path: Path, data: bytes) -> str:
    """Trust the file as it is now, and return the recorded hash; an earlier hash of it is replaced.

    Raises UnavailableError if the home cannot be written.
    """
    from ghost_core.files import write_file

    files = _read(home) | {str(path.resolve()): file_hash(data)}
    document = {"schema": SCHEMA, "files": dict(sorted(files.items()))}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_file(register(home.ensure()), text.encode(), mode=0o600)
    return file_hash(data)


def _read(home: Home) -> dict[str, str]:
    path = register(home)
    try:
        return _files(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"trust register {str(path)!r}: cannot be read",
            code="trust.unreadable",
            hint=f"delete {path} and run: ghost trust",
        ) from error


def _files(document: object) -> dict[str, str]:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError("no trust register")
    files = document.get("files")
    if not isinstance(files, dict):
        raise ValueError("no files")  # noqa: TRY004  # content of a file, not a mistake of a caller
    return {name: digest for name, digest in files.items() if isinstance(digest, str)}
