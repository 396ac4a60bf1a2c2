"""What is read from a bundle before it is judged: leaves with their hashes, and the keys to use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ghost_core.errors import GhostError, IncompleteError, IntegrityError
from ghost_ledger.bundle import Bundle
from ghost_ledger.entry import Entry, check_content, open_leaf, parse_envelope
from ghost_ledger.handover import followers
from ghost_ledger.note import Line, Vkey
from ghost_ledger.tree import leaf_hash
from ghost_ledger.verify.pins import Pins
from ghost_ledger.verify.revocation import Revocations

__all__ = ["Evidence", "Leaf", "bad_entry", "declared_key", "read_leaves"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One entry of the bundle, its signature line, its leaf hash, and why it cannot be read."""

    entry: Entry
    line: Line
    hash: bytes
    problem: GhostError | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that the checks look at: the parts, the leaves, and the keys to use for them."""

    bundle: Bundle
    leaves: tuple[Leaf, ...]
    pins: Pins
    session_key: Vkey | None
    log_keys: tuple[Vkey, ...]
    revoked: Revocations = field(default_factory=Revocations)

    def heirs(self, keys: Sequence[Vkey]) -> tuple[Vkey, ...]:
        """Return keys of the log with those that they handed over to; a revoked one has no heirs."""
        return followers(self.bundle.handovers, keys, barred=self.revoked.sizes.keys())

    @property
    def body(self) -> tuple[Leaf, ...]:
        """Return the entries under the seal: all but a last `session.seal`."""
        return self.leaves[:-1] if self.seal_leaf else self.leaves

    @property
    def seal_leaf(self) -> Leaf | None:
        """Return the last entry if it is the seal."""
        last = self.leaves[-1]
        return last if last.entry.type == "session.seal" else None


def read_leaves(notes: Sequence[bytes]) -> tuple[Leaf, ...]:
    """Read every entry: its note, its envelope, and whether its fields can be read.

    Raises:
        IntegrityError: an entry that is no note with a GJ1 body and the common fields.
    """
    leaves = []
    for seq, note in enumerate(notes):
        try:
            body, line = open_leaf(note)
            entry = parse_envelope(body)
        except IntegrityError as error:
            raise bad_entry(seq, error.message) from error
        leaves.append(Leaf(entry, line, leaf_hash(note), _problem(entry)))
    return tuple(leaves)


def declared_key(leaf: Leaf, field: str, name: str) -> Vkey | None:
    """Return the key that the spawn entry names; None if that entry cannot be read.

    Raises:
        IntegrityError: not a key, or one that bears another name.
    """
    value = leaf.entry.fields.get(field)
    if leaf.problem is not None or not isinstance(value, str):
        return None
    key = Vkey.parse(value)
    if key.name != name:
        raise bad_entry(0, f"{field} bears the name {key.name}, expected {name}")
    return key


def bad_entry(seq: int, reason: str) -> IntegrityError:
    """Return the error that names an entry by its place."""
    return IntegrityError(f"entry {seq}: {reason}", code="ledger.evidence")


def _problem(entry: Entry) -> GhostError | None:
    try:
        check_content(entry)
    except (IntegrityError, IncompleteError) as error:
        return error
    return None
