"""The memory of log heads outside the database: what makes a restored or cut database visible.

A head is remembered before it leaves the process and at least once per second while appending.
One file per log, named by the SHA-256 of its origin; it only ever moves forward.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.files import sync
from ghost_core.paths import Home

__all__ = [
    "GO_ON",
    "RememberedHead",
    "compare",
    "held",
    "locked",
    "recall",
    "remember",
    "remembered_in",
    "replace",
]

_LIMIT = 4096
GO_ON = (
    "restore the newest database; where there is none, go on in a log under a new name: "
    "ghost ledger continue --reason WHY"
)
"""What helps where a log is not the one that is remembered."""


@dataclass(frozen=True, slots=True)
class RememberedHead:
    """The last head of a log that was written down, and the database it was seen in."""

    origin: str
    size: int
    root: bytes
    database: str = ""


def remember(home: Home, origin: str, size: int, root: bytes, *, database: str = "") -> None:
    """Write the head down, synced to disk; an older one than the remembered is a no-op.

    Raises:
        IntegrityError: code `ledger.fork`, another root is remembered for this size.
        UnavailableError: code `heads.unwritable`.
    """
    head = RememberedHead(origin, size, root, database)
    try:
        with locked(home.heads):
            known = _load(_path(home, origin))
            if known is not None and known.size >= size:
                _refuse_fork(known, head)
                return
            replace(_path(home, origin), _encode(head, known))
    except OSError as error:
        raise UnavailableError(
            f"head memory of {origin}: cannot be written, {error.strerror}",
            code="heads.unwritable",
            hint="check free space and the owner of the home, or set GHOST_HOME",
        ) from error


def recall(home: Home, origin: str) -> tuple[int, bytes] | None:
    """Return size and root of the remembered head, or None.

    Raises:
        IntegrityError: code `ledger.heads`, the file is malformed.
    """
    known = _load(_path(home, origin))
    return None if known is None else (known.size, known.root)


def remembered_in(home: Home, database: str) -> RememberedHead | None:
    """Return the head that was seen last in this database, of whatever log."""
    for path in sorted(home.heads.glob("*.head"), key=_written, reverse=True):
        known = _load(path)
        if known is not None and known.database == database:
            return known
    return None


def compare(origin: str, *, known: tuple[int, bytes], found: tuple[int, bytes]) -> None:
    """Refuse a log that is behind its remembered head, or has another root at that size.

    `found` is the log cut at the remembered size where it is longer.

    Raises:
        IntegrityError: code `ledger.rollback`, both heads in the message.
    """
    if known == found:
        return
    raise IntegrityError(
        f"log {origin}: expected to contain the remembered head {_shown(known)}, "
        f"found {_shown(found)} in the database",
        code="ledger.rollback",
        hint=GO_ON,
    )


def _written(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except FileNotFoundError:  # replaced at this moment
        return 0, path.name


def _shown(head: tuple[int, bytes]) -> str:
    return f"size {head[0]} root {head[1].hex()}"


def _refuse_fork(known: RememberedHead, head: RememberedHead) -> None:
    if known.size == head.size and known.root != head.root:
        raise IntegrityError(
            f"log {head.origin}: two roots for size {head.size}, "
            f"remembered {known.root.hex()}, found {head.root.hex()}",
            code="ledger.fork",
            hint=GO_ON,
        )


def _path(home: Home, origin: str) -> Path:
    return home.heads / f"{hashlib.sha256(origin.encode()).hexdigest()}.head"


def _encode(head: RememberedHead, known: RememberedHead | None) -> bytes:
    database = head.database or (known.database if known else "")
    root = base64.b64encode(head.root).decode("ascii")
    return f"{head.origin}\n{head.size}\n{root}\n{database}\n".encode()


def _load(path: Path) -> RememberedHead | None:
    try:
        with path.open("rb") as file:
            content = file.read(_LIMIT)
    except FileNotFoundError:
        return None
    try:
        origin, size, root, database, rest = content.decode("utf-8").split("\n")
        head = RememberedHead(origin, int(size), base64.b64decode(root, validate=True), database)
    except ValueError as error:
        raise _malformed(path) from error
    if rest or len(head.root) != hashlib.sha256().digest_size or head.size < 0:
        raise _malformed(path)
    return head


def _malformed(path: Path) -> IntegrityError:
    return IntegrityError(
        f"head memory {path}: expected origin, size, root and database",
        code="ledger.heads",
        hint="restore the file; do not delete it without looking at the log",
    )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other processes and threads; raises OSError."""
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def held(folder: Path, name: str, *, code: str) -> Iterator[None]:
    """Hold a folder of our own, made if it is not there; raises UnavailableError where it cannot be used."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        with locked(folder):
            yield
    except OSError as error:
        raise UnavailableError(
            f"{name} {str(folder)!r}: cannot be used, {error.strerror}", code=code
        ) from error


def replace(path: Path, content: bytes) -> None:
    """Replace a file at once, for its owner only, and come back when the disk has it; raises OSError."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb", closefd=False) as file:
            file.write(content)
        os.fsync(handle)
    finally:
        os.close(handle)
    aside.replace(path)
    sync(path.parent)
