"""What a home keeps of keys that went: the note of each change, the head that both signed, a last head."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ghost_core.errors import IntegrityError, UnavailableError
from ghost_core.paths import Home
from ghost_ledger import heads
from ghost_ledger.checkpoint import Checkpoint, open_checkpoint
from ghost_ledger.note import NOTE_LIMIT, Vkey

__all__ = ["KeptHandovers"]


@dataclass(frozen=True, slots=True)
class KeptHandovers:
    """The folder of one log, beside the remembered heads; entries of the log hold the same notes."""

    folder: Path

    @classmethod
    def of(cls, home: Home, origin: str) -> KeptHandovers:
        """Return that of a log."""
        name = hashlib.sha256(origin.encode()).hexdigest()
        return cls(home.heads / "handovers" / name)

    def notes(self) -> tuple[bytes, ...]:
        """Return the notes, the oldest first."""
        return tuple(path.read_bytes()[:NOTE_LIMIT] for path in sorted(self.folder.glob("*.note")))

    def head(self, size: int) -> Path:
        """Return where the head of a change is, or would be."""
        return self.folder / f"{size:016d}.checkpoint"

    def keep(self, size: int, note: bytes, head: bytes) -> Path:
        """Keep the note of a change, and the head of this size; returns where the head is.

        Raises:
            UnavailableError: code `heads.unwritable`.
        """
        place = self.head(size)
        self._write(place, head)
        self._write(place.with_suffix(".note"), note)
        return place

    def keep_last(self, head: bytes) -> None:
        """Keep the last head of a log that is left, before its key is gone; raises as `keep`."""
        self._write(self._last, head)

    def last(self, key: Vkey) -> tuple[Checkpoint, bytes] | None:
        """Return the head that was kept so, read and as a note; None if there is none of this key."""
        try:
            note = self._last.read_bytes()[:NOTE_LIMIT]
            return open_checkpoint(note, [key]), note
        except (FileNotFoundError, IntegrityError):
            return None

    @property
    def _last(self) -> Path:
        return self.folder / "last.checkpoint"

    def _write(self, path: Path, data: bytes) -> None:
        try:
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            heads.replace(path, data)
        except OSError as error:
            raise UnavailableError(
                f"head {str(path)!r}: cannot be written, {error.strerror}",
                code="heads.unwritable",
                hint="check free space and the owner of the home",
            ) from error
