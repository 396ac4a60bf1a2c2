"""What the entries of a whole log say of the log itself: its key at each place, and the log before it."""

from __future__ import annotations

from dataclasses import dataclass

from ghost_core.errors import IntegrityError
from ghost_ledger.entry import Entry
from ghost_ledger.handover import open_handover
from ghost_ledger.note import Vkey

__all__ = ["Continued", "Succession"]

_PLACE = 2
"""Where `log.continued` stands: after the first session's spawn and `log.init`, and nowhere else."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The head of another log that this one goes on from."""

    origin: str
    size: int
    root: str
    reason: str


@dataclass(slots=True)
class Succession:
    """Fed entry by entry; every method raises IntegrityError where an entry cannot stand."""

    origin: str
    key: str = ""
    changes: int = 0
    continued: Continued | None = None

    def spawned(self, spawn: Entry) -> None:
        """Take the first entry of a session, which names the key in force; the first one of all begins."""
        named = str(spawn.fields.get("log_vkey"))
        if not self.key and Vkey.parse(named).name == self.origin:
            self.key = named
        if named != self.key:
            raise IntegrityError(f"names the log key {named}, expected {self.key or 'one of it'}")

    def feed(self, read: Entry, idx: int) -> None:
        """Take an entry whose fields are right and whose session signed it."""
        if read.type == "log.init" and read.fields["log_vkey"] != self.key:
            raise IntegrityError(f"names another log key than {self.key}")
        if read.type == "log.key":
            self._change(read, idx)
        if read.type == "log.continued":
            self._continue(read, idx)

    def finish(self, key: str) -> None:
        """Demand that the head names the key to which the entries led."""
        if self.key and key != self.key:
            raise IntegrityError(f"the head names the key {key}, the entries {self.key}")

    def _change(self, read: Entry, idx: int) -> None:
        """Take a change of key, for which the key in force must have signed."""
        said = open_handover(str(read.fields.get("note", "")).encode())
        named = read.fields.get("revoked"), read.fields["vkey"], read.fields.get("from_size")
        if named != (said.old.format(), said.new.format(), idx + 1):
            raise IntegrityError("log.key does not repeat its note and its place")
        if said.old.format() != self.key:
            raise IntegrityError(f"log.key is not signed by the log's key {self.key}")
        self.key = said.new.format()
        self.changes += 1

    def _continue(self, read: Entry, idx: int) -> None:
        fields = read.fields
        if idx != _PLACE or read.seq != _PLACE or fields["origin"] == self.origin:
            raise IntegrityError(
                "log.continued is out of place: a log begins with it, or never has one"
            )
        said = str(fields["origin"]), int(str(fields["size"])), str(fields["root"])
        self.continued = Continued(*said, str(fields["reason"]))
