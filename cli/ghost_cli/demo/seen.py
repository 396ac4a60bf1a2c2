"""What a client of the demo saw of one call."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ghost_core.errors import FailedError


@dataclass(frozen=True, slots=True)
class Seen:
    """The status, the text, and when its pieces arrived, in milliseconds after the start."""

    status: int
    text: str
    times_ms: tuple[float, ...] = ()

    def excerpt(self) -> str:
        """Return the start of the text, for an error."""
        return self.text[:120]

    def message(self) -> str:
        """Return the message of a refusal by ghost; raises FailedError."""
        try:
            return str(json.loads(self.text)["error"]["message"])
        except (ValueError, KeyError, TypeError) as error:
            raise FailedError(f"expected a JSON refusal, found {self.excerpt()!r}") from error


def parse(line: str) -> Seen:
    """Read a line that the agent's script has written about a task."""
    row = json.loads(line)
    return Seen(row["status"], row["text"], tuple(row["times_ms"]))
