"""What the log's home keeps of its witnesses: the last cosigned head, and what contradicted it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ghost_core.errors import IntegrityError
from ghost_core.paths import Home
from ghost_ledger import canonical, heads
from ghost_ledger.canonical import Value
from ghost_ledger.checkpoint import Checkpoint, open_checkpoint
from ghost_ledger.cosignature import Cosignature, WitnessKey, cosigned
from ghost_ledger.note import NOTE_LIMIT, Vkey
from ghost_ledger.witness.asking import Reply

__all__ = ["EVIDENCE_LIMIT", "Cosigned", "Kept"]

EVIDENCE_LIMIT: Final = 100
_ANSWER_LIMIT: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Cosigned:
    """A head with the cosignatures of the witnesses in force."""

    note: bytes
    head: Checkpoint
    signed: dict[WitnessKey, Cosignature]


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder for it, beside the remembered heads."""

    folder: Path

    @classmethod
    def of(cls, home: Home) -> Kept:
        """Return that of a home."""
        return cls(home.heads / "cosigned")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Ask witnesses from one place at a time: whoever has the folder has the newest head."""
        with heads.held(self.folder, "cosigned heads", code="heads.unwritable"):
            yield

    def load(self, log: Vkey, witnesses: Sequence[WitnessKey]) -> Cosigned | None:
        """Return the last cosigned head of a log; None if there is none that holds."""
        try:
            with self._path(log).open("rb") as file:
                note = file.read(NOTE_LIMIT + 1)
            head = open_checkpoint(note, [log])
            return Cosigned(note, head, cosigned(note, witnesses))
        except (FileNotFoundError, IntegrityError):
            return None

    def save(self, log: Vkey, note: bytes) -> None:
        """Keep a cosigned head instead of the one before."""
        heads.replace(self._path(log), note)

    def keep_evidence(self, url: str, reply: Reply) -> Path:
        """Keep what was said in a conflict, under its hash, up to a limit; returns where."""
        data = canonical.encode(_evidence(url, reply), limit=_ANSWER_LIMIT)
        folder = self.folder / "evidence"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{hashlib.sha256(data).hexdigest()}.json"
        if sum(1 for _ in folder.iterdir()) < EVIDENCE_LIMIT:
            heads.replace(path, data)
        return path

    def _path(self, log: Vkey) -> Path:
        return self.folder / f"{hashlib.sha256(log.name.encode()).hexdigest()}.checkpoint"


def _evidence(url: str, reply: Reply) -> dict[str, Value]:
    return {
        "v": 1,
        "witness": reply.witness.format(),
        "url": url,
        "reason": reply.detail,
        "request": reply.request.decode(),
        "status": reply.status,
        "answer": reply.answer.decode("utf-8", "replace"),
    }
