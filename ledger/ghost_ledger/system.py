"""The system session: entries of the recorder itself, signed by a key that never leaves RAM.

One per process run, opened at its first entry, sealed at close; its lock in the runtime folder
tells others that it has an owner.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Final

from ghost_core import ids
from ghost_core.clock import Clock
from ghost_core.version import __version__
from ghost_ledger import commitment
from ghost_ledger.canonical import Value
from ghost_ledger.chain import Signer
from ghost_ledger.drafts import Draft, Payload
from ghost_ledger.session.custody import Custody

__all__ = ["RECORDER", "SystemSession"]

RECORDER: Final = f"ghost/{__version__}"
_INTENT: Final = "system"
_TTL_SECONDS: Final = 366 * 86_400  # a run ends with its process, not with a deadline


class SystemSession:
    """Key, lock and first entries of the session that a recorder run is."""

    def __init__(self, origin: str, log_vkey: str, clock: Clock) -> None:
        self.sid = ids.session_id()
        self._log_vkey = log_vkey
        self._clock = clock
        self._born_us = clock.now_us()
        self._custody = Custody.create(self.sid, persist=False)
        self.signer = Signer.of(self._custody.key, origin, self.sid)

    def spawn(self) -> Draft:
        """Return the first entry; its token digest is of bytes that nobody keeps."""
        salt, committed = commitment.commit("intent", _INTENT.encode())
        life = _TTL_SECONDS * 1_000_000
        fields: dict[str, Value] = {
            "vkey": self.signer.vkey,
            "wire_key": self._custody.wire_key.public.hex(),
            "log_vkey": self._log_vkey,
            "intent": committed,
            "scopes": [],
            "ttl_seconds": _TTL_SECONDS,
            "expires_at": self._born_us + life,
            "boot": self._clock.boot_id(),
            "deadline": self._clock.boottime_us() + life,
            "token": sha256(secrets.token_bytes(32)).hexdigest(),
            "recorder": RECORDER,
            "system": True,
        }
        size = len(_INTENT)
        payload = Payload("intent", salt, committed, _INTENT.encode(), size, "text/plain")
        extra = {"intent": _INTENT}
        return Draft(self.sid, "session.spawn", ids.entry_id(), fields, (payload,), extra)

    def init(self) -> Draft:
        """Return the entry that starts a log."""
        fields: dict[str, Value] = {"log_vkey": self._log_vkey, "recorder": RECORDER}
        return Draft(self.sid, "log.init", ids.entry_id(), fields)

    def closed_fields(self) -> dict[str, Value]:
        """Return the fields of its `session.closed`."""
        return {
            "reason": "exit",
            "reads": 0,
            "bytes_sent": 0,
            "bytes_received": 0,
            "summary": [],
            "lived_seconds": max(0, self._clock.now_us() - self._born_us) // 1_000_000,
        }

    def destroy(self) -> bool:
        """Wipe the key, give up the lock; True if the key buffer read back as zeros."""
        return self._custody.destroy()
