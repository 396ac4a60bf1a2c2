"""The add-checkpoint request: old size, consistency proof, empty line, checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ghost_core.errors import IntegrityError
from ghost_ledger.checkpoint import Checkpoint, parse_checkpoint, parse_size
from ghost_ledger.note import NOTE_LIMIT, decode_base64, encode_base64, split
from ghost_ledger.tree import HASH_BYTES, PROOF_LIMIT

__all__ = ["REQUEST_LIMIT", "Request", "decode_request", "encode_request"]

REQUEST_LIMIT = NOTE_LIMIT + 4096
_OLD = "old "


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: from which size, by which proof, and the note whose head is to be cosigned.

    `head` is what the note says of itself; nothing of it is verified yet.
    """

    old: int
    proof: tuple[bytes, ...]
    note: bytes
    text: bytes
    head: Checkpoint


def encode_request(old: int, proof: Sequence[bytes], note: bytes) -> bytes:
    """Return the body of a request."""
    lines = [f"{_OLD}{old}", *map(encode_base64, proof), "", ""]
    return "\n".join(lines).encode() + note


def decode_request(body: bytes) -> Request:
    """Read the body of a request.

    Raises:
        IntegrityError: not one, or more than 63 hashes (codes `ledger.request`, `.note`, `.checkpoint`).
    """
    if len(body) > REQUEST_LIMIT:
        raise _broken(f"expected at most {REQUEST_LIMIT} bytes")
    before, blank, note = body.partition(b"\n\n")
    try:
        first, *rest = before.decode("ascii").split("\n")
    except UnicodeDecodeError as error:
        raise _broken("the part before the checkpoint is not ascii") from error
    if not blank or not first.startswith(_OLD):
        raise _broken("expected a line `old N`, the proof, an empty line and a checkpoint")
    proof = tuple(decode_base64(line) for line in rest)
    if len(proof) > PROOF_LIMIT or not all(len(item) == HASH_BYTES for item in proof):
        raise _broken(f"expected at most {PROOF_LIMIT} hashes of {HASH_BYTES} bytes")
    text, _ = split(note)
    return Request(parse_size(first.removeprefix(_OLD)), proof, note, text, parse_checkpoint(text))


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"request: {reason}", code="ledger.request")
