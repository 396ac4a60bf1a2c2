"""Cosignatures of witnesses over log heads (C2SP tlog-cosignature, `cosignature/v1`, type 0x04).

A cosignature says: at this time, this was the largest consistent head that the witness had seen of the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, override

from ghost_core.errors import IntegrityError
from ghost_ledger.keys import SIGNATURE_BYTES, Key, verify
from ghost_ledger.note import Line, Vkey, key_id, signature_line, split

__all__ = ["COSIGNATURE", "Cosignature", "WitnessKey", "cosign", "cosigned"]

COSIGNATURE = b"\x04"
_TIME_BYTES = 8
_TIME_LIMIT = 2**63


@dataclass(frozen=True, slots=True)
class WitnessKey(Vkey):
    """A named key of a witness: `name+hex key id+base64(0x04 and key)`."""

    KIND: ClassVar[bytes] = COSIGNATURE

    @override
    def __post_init__(self) -> None:
        Vkey.__post_init__(self)


@dataclass(frozen=True, slots=True)
class Cosignature:
    """A cosignature that was verified: when it was made, and its line with the newline."""

    seconds: int
    line: str


def cosign(key: Key, name: str, text: bytes, seconds: int) -> str:
    """Return the signature line of a witness over the text of a head, with its newline."""
    signature = seconds.to_bytes(_TIME_BYTES, "big") + key.sign(_message(text, seconds))
    return signature_line(name, key_id(name, key.public, COSIGNATURE), signature)


def cosigned(note: bytes, witnesses: Iterable[WitnessKey]) -> dict[WitnessKey, Cosignature]:
    """Return what known witnesses signed of the head of a note; of two lines of one the earlier counts.

    Lines of unknown keys are ignored; one failing line of a known witness rejects the note.

    Raises:
        IntegrityError: not a note, or a cosignature that fails (codes `ledger.note`, `.cosignature`).
    """
    text, lines = split(note)
    known = {(each.name, each.key_id): each for each in witnesses}
    found = dict[WitnessKey, Cosignature]()
    for line in lines:
        witness = known.get((line.name, line.key_id))
        if witness is not None:
            made = _checked(witness, text, line)
            found[witness] = min(made, found.get(witness, made), key=lambda each: each.seconds)
    return found


def _checked(witness: WitnessKey, text: bytes, line: Line) -> Cosignature:
    seconds = int.from_bytes(line.signature[:_TIME_BYTES], "big")
    signature = line.signature[_TIME_BYTES:]
    if len(signature) != SIGNATURE_BYTES or seconds >= _TIME_LIMIT:
        raise _failing(witness, f"expected a time and {SIGNATURE_BYTES} bytes")
    try:
        verify(witness.public, _message(text, seconds), signature)
    except IntegrityError as error:
        raise _failing(witness, error.message) from error
    return Cosignature(seconds, signature_line(line.name, line.key_id, line.signature))


def _message(text: bytes, seconds: int) -> bytes:
    return b"cosignature/v1\ntime %d\n" % seconds + text


def _failing(witness: WitnessKey, reason: str) -> IntegrityError:
    return IntegrityError(f"cosignature of {witness.name}: {reason}", code="ledger.cosignature")
