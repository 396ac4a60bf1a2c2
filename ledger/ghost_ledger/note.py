"""Signed notes: the one signed text format of the ledger (C2SP signed-note, type 0x01 Ed25519).

Entries, seals and log heads are all notes; stock tools in Go, Rust and Python read them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Self

from ghost_core.errors import IntegrityError
from ghost_ledger.keys import PUBLIC_BYTES, Key, check_public, verify

__all__ = [
    "ED25519",
    "KEY_ID_BYTES",
    "LINES_LIMIT",
    "NOTE_LIMIT",
    "Line",
    "Vkey",
    "decode_base64",
    "encode_base64",
    "key_id",
    "open_note",
    "sign_note",
    "signature_line",
    "split",
]

KEY_ID_BYTES = 4
LINES_LIMIT = 16
NOTE_LIMIT = 128 * 1024
ED25519 = b"\x01"
_CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f]")
_NAME = re.compile(r"[^\s+]{1,255}\Z")
_VKEY = re.compile(r"([^\s+]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{4,64})\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """One signature line: who says it signed, and the signature bytes after the key id."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Vkey:
    """A named Ed25519 public key: `name+hex key id+base64(0x01 and key)`."""

    KIND: ClassVar[bytes] = ED25519
    """The type byte: what a signature under this key is over."""

    name: str
    public: bytes
    key_id: bytes = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check name and point, and derive the key id that binds both."""
        if _NAME.match(self.name) is None:
            raise IntegrityError("key name: empty, too long, or holds a space or plus", code=_KEY)
        check_public(self.public)
        object.__setattr__(self, "key_id", key_id(self.name, self.public, self.KIND))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read one verifier key line, without a newline.

        Raises:
            IntegrityError: bad grammar, another algorithm, or an id that is not the key's.
        """
        match = _VKEY.match(text)
        if match is None:
            raise IntegrityError("key: expected name+8 hex digits+base64", code=_KEY)
        name, shown, encoded = match.groups()
        raw = decode_base64(encoded)
        if raw[:1] != cls.KIND or len(raw) != 1 + PUBLIC_BYTES:
            raise IntegrityError(
                f"key {name}: not an ed25519 key of type {cls.KIND.hex()}", code=_KEY
            )
        key = cls(name, raw[1:])
        if key.key_id.hex() != shown:
            raise IntegrityError(
                f"key {name}: id {shown} is not of this name and key, expected {key.key_id.hex()}",
                code=_KEY,
            )
        return key

    def format(self) -> str:
        """Return the verifier key line, without a newline."""
        return f"{self.name}+{self.key_id.hex()}+{encode_base64(self.KIND + self.public)}"


_KEY = "ledger.key"


def key_id(name: str, public: bytes, kind: bytes = ED25519) -> bytes:
    """Return the 4-byte key id: SHA-256 of name, newline, type byte and key, cut."""
    return hashlib.sha256(name.encode() + b"\n" + kind + public).digest()[:KEY_ID_BYTES]


def signature_line(name: str, key_id: bytes, signature: bytes) -> str:
    """Return one signature line, with its newline."""
    return f"— {name} {encode_base64(key_id + signature)}\n"


def sign_note(key: Key, name: str, text: bytes) -> bytes:
    """Return the note of a text (ending in a newline) with one signature under this key name."""
    line = signature_line(name, key_id(name, key.public), key.sign(text))
    return text + b"\n" + line.encode()


def split(data: bytes) -> tuple[bytes, tuple[Line, ...]]:
    """Cut a note at its last empty line into text (with newline) and signature lines.

    Nothing is verified yet. At most 128 KiB and 16 lines.

    Raises:
        IntegrityError: not a note (code `ledger.note`).
    """
    if len(data) > NOTE_LIMIT:
        raise _broken(f"expected at most {NOTE_LIMIT} bytes, found {len(data)}")
    if _CONTROL.search(data):
        raise _broken("a control character")
    text, blank, signatures = data.rpartition(b"\n\n")
    if not blank:
        raise _broken("no empty line before the signatures")
    try:
        lines = signatures.decode("utf-8").split("\n")
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _broken("not utf-8") from error
    if lines.pop() or not lines:
        raise _broken("no signature line, or the last one has no newline")
    if len(lines) > LINES_LIMIT:
        raise _broken(f"expected at most {LINES_LIMIT} signatures, found {len(lines)}")
    return text + b"\n", tuple(_line(line) for line in lines)


def open_note(data: bytes, keys: Iterable[Vkey]) -> bytes:
    """Return the text of a note that a known key signed.

    Signatures of unknown keys are ignored; one failing signature of a known key rejects the note.

    Raises:
        IntegrityError: not a note, no known signature, or one that fails.
    """
    text, lines = split(data)
    known = {(key.name, key.key_id): key for key in keys}
    signed = False
    for line in lines:
        key = known.get((line.name, line.key_id))
        if key is not None:
            verify(key.public, text, line.signature)
            signed = True
    if not signed:
        names = ", ".join(sorted(name for name, _ in known)) or "none"
        raise IntegrityError(
            f"note: no signature of a known key, expected {names}", code="ledger.signature"
        )
    return text


def decode_base64(text: str) -> bytes:
    """Decode standard base64 in its only canonical form.

    Raises:
        IntegrityError: another alphabet, padding or trailing bits (code `ledger.note`).
    """
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _broken("not base64") from error
    if encode_base64(raw) != text:
        raise _broken("base64 not in canonical form")
    return raw


def encode_base64(raw: bytes) -> str:
    """Encode as standard base64 with padding."""
    return base64.b64encode(raw).decode("ascii")


def _line(text: str) -> Line:
    parts = text.split(" ")
    if len(parts) != 3 or parts[0] != "—" or _NAME.match(parts[1]) is None:
        raise _broken("a signature line is not `— name base64`")
    raw = decode_base64(parts[2])
    if len(raw) <= KEY_ID_BYTES:
        raise _broken("a signature is shorter than a key id")
    return Line(parts[1], raw[:KEY_ID_BYTES], raw[KEY_ID_BYTES:])


def _broken(reason: str) -> IntegrityError:
    return IntegrityError(f"note: {reason}", code="ledger.note")
