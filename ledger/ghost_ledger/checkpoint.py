"""Log heads (C2SP tlog-checkpoint, without extension lines) and offline proofs (C2SP tlog-proof).

A checkpoint is a note over three lines: origin, size, base64 root. An entry is one line that
starts with a brace, so neither can be read as the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ghost_core.errors import IntegrityError
from ghost_ledger.keys import SecretKey
from ghost_ledger.note import Vkey, decode_base64, encode_base64, open_note, sign_note
from ghost_ledger.tree import HASH_BYTES, PROOF_LIMIT, SIZE_LIMIT

__all__ = [
    "Checkpoint",
    "Proof",
    "decode_proof",
    "encode_proof",
    "head_text",
    "open_checkpoint",
    "parse_checkpoint",
    "parse_size",
    "sign_checkpoint",
]

_NUMBER = re.compile(r"(0|[1-9][0-9]{0,15})\Z")
_ORIGIN = re.compile(r"[^\s+]{1,255}\Z")
_PROOF = "c2sp.org/tlog-proof@v1"
_INDEX = "index "


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree head: whose tree, how many leaves, which root."""

    origin: str
    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class Proof:
    """An inclusion proof that stands alone: index, audit path, and the signed head it leads to."""

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes


def head_text(origin: str, size: int, root: bytes) -> bytes:
    """Return the three lines that are signed."""
    return f"{origin}\n{size}\n{encode_base64(root)}\n".encode()


def sign_checkpoint(key: SecretKey, origin: str, size: int, root: bytes) -> bytes:
    """Return the note of a head, signed under the origin as key name."""
    return sign_note(key, origin, head_text(origin, size, root))


def parse_checkpoint(text: bytes) -> Checkpoint:
    """Read the text of a head whose note was opened before.

    Raises:
        IntegrityError: not exactly origin, size and root (code `ledger.checkpoint`).
    """
    try:
        origin, size, root, end = text.decode("utf-8").split("\n")
    except ValueError as error:
        raise _broken("expected three lines") from error
    if end or _ORIGIN.match(origin) is None:
        raise _broken("expected an origin line and three lines in all")
    raw = decode_base64(root)
    if len(raw) != HASH_BYTES:
        raise _broken(f"expected a root of {HASH_BYTES} bytes, found {len(raw)}")
    return Checkpoint(origin, parse_size(size), raw)


def open_checkpoint(note: bytes, keys: Iterable[Vkey]) -> Checkpoint:
    """Verify the note of a head under known keys and read it.

    Raises:
        IntegrityError: no known signature, a failing one, or not a head.
    """
    return parse_checkpoint(open_note(note, keys))


def encode_proof(proof: Proof) -> str:
    """Return the tlog-proof text: index, one hash a line, empty line, checkpoint note."""
    lines = [_PROOF, f"{_INDEX}{proof.index}", *map(encode_base64, proof.hashes), "", ""]
    return "\n".join(lines) + proof.checkpoint.decode("utf-8")


def decode_proof(text: str) -> Proof:
    """Read a tlog-proof text; our proofs carry no `extra` line, because nothing authenticates it.

    Raises:
        IntegrityError: not such a text, or more than 63 hashes.
    """
    head, blank, checkpoint = text.partition("\n\n")
    lines = head.split("\n")
    if not blank or lines[0] != _PROOF or not "\n".join(lines[1:]).startswith(_INDEX):
        raise _broken("not a tlog-proof with an index and a checkpoint")
    hashes = tuple(decode_base64(line) for line in lines[2:])
    if len(hashes) > PROOF_LIMIT or not all(len(item) == HASH_BYTES for item in hashes):
        raise _broken(f"expected at most {PROOF_LIMIT} hashes of {HASH_BYTES} bytes")
    return Proof(parse_size(lines[1].removeprefix(_INDEX)), hashes, checkpoint.encode())


def parse_size(text: str) -> int:
    """Read a decimal size below 2^53; raises IntegrityError `ledger.checkpoint`."""
    if _NUMBER.match(text) is None or int(text) >= SIZE_LIMIT:
        raise _broken("expected a decimal number below 2^53 without leading zeros")
    return int(text)


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"checkpoint: {reason}", code="ledger.checkpoint")
