"""What a session did without entries of its own: allowed reads. It goes into `session.closed`.

The tally lies in the session's folder while no process owns it, so that the next owner goes on counting.
After a crash it starts from what was saved last; entries do not depend on it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ghost_core.files import write_file

type Kind = tuple[str, str, str]
_NAME = "tally.json"


@dataclass(slots=True)
class Tally:
    """Reads by tool, action and status, and the bytes of their bodies."""

    reads: Counter[Kind] = field(default_factory=Counter)
    bytes_sent: int = 0
    bytes_received: int = 0

    def add(self, tool: str, action: str, status: str, *, sent: int, received: int) -> None:
        """Count one allowed read and the bytes of its bodies."""
        self.reads[(tool, action, status)] += 1
        self.bytes_sent += sent
        self.bytes_received += received

    def save(self, folder: Path) -> None:
        """Leave the tally for the next owner."""
        document = {
            "reads": [[*kind, count] for kind, count in self.reads.items()],
            "bytes_sent": self.bytes_sent,
            "bytes_received": self.bytes_received,
        }
        write_file(folder / _NAME, json.dumps(document).encode(), mode=0o600)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return what the last owner left, or an empty tally."""
        try:
            document = json.loads((folder / _NAME).read_bytes())
            reads = {
                (str(row[0]), str(row[1]), str(row[2])): int(row[3]) for row in document["reads"]
            }
            return cls(Counter(reads), int(document["bytes_sent"]), int(document["bytes_received"]))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return cls()
