"""The file of a session's two seeds, there until the seal: two lines of hex, 0600 (contract §3).

The seeds are in no other object than locked buffers for longer than it takes to write or read them.
"""

from __future__ import annotations

import os
from pathlib import Path

from ghost_core.errors import IntegrityError
from ghost_ledger.keys import SecretKey
from ghost_ledger.session.residual import erase
from ghost_ledger.session.runtime import FILE_FLAGS, NEW_FILE_FLAGS, SessionFolder

_BYTES = 2 * 65
_HEX = b"0123456789abcdef"


def write(folder: SessionFolder, *keys: SecretKey) -> None:
    """Write the seeds, durable; raises UnavailableError `session.folder`."""
    text = bytearray()
    for key in keys:
        seed = key.seed()
        revealed = seed.reveal()
        for byte in revealed:
            text += bytes((_HEX[byte >> 4], _HEX[byte & 15]))
        text += b"\n"
        erase(revealed)
        seed.wipe()
    try:
        descriptor = os.open(folder.key, NEW_FILE_FLAGS, 0o600)
        try:
            if os.write(descriptor, text) != _BYTES:
                raise OSError(28, "no space left")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise folder.unwritable(error) from error
    finally:
        erase(text)


def read(folder: SessionFolder) -> tuple[SecretKey, SecretKey]:
    """Return session key and wire key.

    Raises: IntegrityError `session.key_file`, and as `SessionFolder.open_file` does.
    """
    descriptor = folder.open_file(folder.key)
    text = bytearray(_BYTES + 1)
    try:
        if os.readv(descriptor, [text]) != _BYTES:
            raise _damaged(folder)
        return _key(folder, text, 0), _key(folder, text, 65)
    finally:
        os.close(descriptor)
        erase(text)


def _key(folder: SessionFolder, text: bytearray, start: int) -> SecretKey:
    if text[start + 64] != ord("\n"):
        raise _damaged(folder)
    raw = bytearray(32)
    for at in range(32):
        high, low = _HEX.find(text[start + 2 * at]), _HEX.find(text[start + 2 * at + 1])
        if high < 0 or low < 0:
            raise _damaged(folder)
        raw[at] = high << 4 | low
    seed = bytes(raw)
    try:
        return SecretKey.from_seed(seed)
    finally:
        erase(seed)
        erase(raw)


def _damaged(folder: SessionFolder) -> IntegrityError:
    return IntegrityError(
        f"session {folder.sid}: its key file is not two lines of 64 hex digits",
        code="session.key_file",
        hint=f"ghost session show {folder.sid}",
    )


def overwrite(path: Path) -> bool:
    """Overwrite a key file with zeros, read them back, unlink; True also if there is none."""
    try:
        descriptor = os.open(path, FILE_FLAGS)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        size = os.fstat(descriptor).st_size
        os.pwrite(descriptor, bytes(size), 0)
        os.fsync(descriptor)
        zeroed = not any(os.pread(descriptor, size, 0))
        path.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return zeroed
