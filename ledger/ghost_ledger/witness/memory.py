"""What a witness remembers: the last cosigned head of each log, in one file, and what contradicts it.

Whoever deletes the file makes the witness forget, so one that has its key but not the file starts no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import canonical, heads, identity
from ghost_ledger.canonical import Value
from ghost_ledger.checkpoint import Checkpoint, parse_checkpoint
from ghost_ledger.note import split

__all__ = ["EVIDENCE_LIMIT", "Memory"]

EVIDENCE_LIMIT: Final = 100
"""How many refused requests of a kind are kept; a log could fill the disk with more."""
_LIMIT: Final = 16 * 1024 * 1024
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Memory:
    """The notes of the last cosigned heads, by origin; use it under `held`."""

    folder: Path

    @classmethod
    def open(cls, home: Home) -> Memory:
        """Return the memory of a home, made with the witness's first start.

        Raises:
            IntegrityError: code `witness.memory`, there is a key but no memory, or it cannot be read.
            UnavailableError: code `witness.unwritable`.
        """
        memory = cls(home.root / "witness")
        with memory.held():
            if memory._file.exists():
                memory._notes()
            elif identity.has_witness_key(home):
                raise _lost(memory._file, "is missing, so a fork could be cosigned")
            else:
                memory._write({})
        return memory

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the memory against all other threads and processes."""
        with heads.held(self.folder, "witness memory", code="witness.unwritable"):
            yield

    def last(self, origin: str) -> Checkpoint | None:
        """Return the last cosigned head of a log, or None.

        Raises:
            IntegrityError: code `witness.memory`.
        """
        note = self._notes().get(origin)
        return None if note is None else _head(note)

    def keep(self, note: bytes) -> None:
        """Remember a head instead of the last one of its log; the disk has it on return."""
        self._write(self._notes() | {_head(note).origin: note})

    def latest(self, origin_hash: str) -> bytes | None:
        """Return the last cosigned note of the log whose origin has this SHA-256 in hex, or None."""
        notes = self._notes().items()
        return next((note for origin, note in notes if _hash(origin.encode()) == origin_hash), None)

    def keep_evidence(self, kind: str, note: bytes, body: bytes) -> None:
        """Keep a request whose head contradicts what was cosigned: once for each head, up to a limit.

        Each kind has a limit of its own: anybody can send a head with a wrong proof, only the log can fork.
        """
        folder = self.folder / "evidence"
        folder.mkdir(mode=0o700, exist_ok=True)
        if sum(1 for _ in folder.glob(f"{kind}-*")) < EVIDENCE_LIMIT:
            heads.replace(folder / f"{kind}-{_hash(note)}.request", body)

    @property
    def _file(self) -> Path:
        return self.folder / "heads"

    def _notes(self) -> dict[str, bytes]:
        try:
            value = canonical.decode(self._file.read_bytes(), limit=_LIMIT)
            notes = [_note(item) for item in _listed(value)]
            return {_head(note).origin: note for note in notes}
        except FileNotFoundError as error:
            raise _lost(self._file, "is missing, so a fork could be cosigned") from error
        except IntegrityError as error:
            raise _lost(self._file, error.message) from error

    def _write(self, notes: dict[str, bytes]) -> None:
        items: list[Value] = [note.decode() for note in notes.values()]
        members: dict[str, Value] = {"v": _VERSION, "heads": items}
        heads.replace(self._file, canonical.encode(members, limit=_LIMIT))


def _listed(value: dict[str, Value]) -> list[Value]:
    match value:
        case {"v": 1, "heads": list(items)} if len(value) == 2:
            return items
    raise IntegrityError("expected the heads of version 1", code="witness.memory")


def _note(item: Value) -> bytes:
    return item.encode() if isinstance(item, str) else b""


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _head(note: bytes) -> Checkpoint:
    return parse_checkpoint(split(note)[0])


def _lost(path: Path, reason: str) -> IntegrityError:
    return IntegrityError(
        f"witness memory {str(path)!r}: {reason}",
        code="witness.memory",
        hint="restore the newest file, or retire this witness: a new home makes a new key",
    )
