"""One webhook of the configuration: signs an event, posts it, tries again, and enters what became of it.

Signed as the Standard Webhooks specification says: HMAC-SHA-256 over `id.timestamp.body`, with a fresh
timestamp for each try.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from ghost_addons.notice import MEDIA_TYPE, Notice
from ghost_core import ids, log
from ghost_core.clock import Clock
from ghost_core.errors import ConfigError, GhostError
from ghost_core.retry import retrying
from ghost_core.secret import SecretBytes
from ghost_core.settings_tables import WebhookSettings
from ghost_credentials.references import Reference
from ghost_hooks.posting import Poster
from ghost_ledger.canonical import Value
from ghost_ledger.recorder import Draft, Recorder

ATTEMPTS = 5
FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
_SECRET_PREFIX = b"whsec_"
_AGAIN_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_AGAIN_CODES = frozenset({"webhook.timeout", "webhook.unreachable", "target.unresolved"})


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt: the status that came back, or the code of what prevented it."""

    status: int = 0
    error: str = ""
    retry_after: float | None = None

    @property
    def delivered(self) -> bool:
        """Tell whether the receiver has taken it."""
        return 200 <= self.status < 300

    @property
    def worth_repeating(self) -> bool:
        """Tell whether the same may succeed later; a redirect or a refusal will not."""
        return self.status in _AGAIN_STATUS or self.error in _AGAIN_CODES


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Delivers the events of one webhook; used by one thread."""

    name: str
    settings: WebhookSettings
    poster: Poster
    resolve: Callable[[Reference], SecretBytes]
    recorder: Recorder
    clock: Clock

    def deliver(self, notice: Notice, stop: threading.Event) -> None:
        """Try until it is taken, may not be repeated, or `stop` is set; then enter the outcome."""
        started, attempts = time.monotonic_ns(), 0

        def attempt() -> Tried:
            nonlocal attempts
            attempts += 1
            return self._tried(notice, stop)

        tried = retrying(
            attempt,
            attempts=ATTEMPTS,
            when=lambda last: last.worth_repeating,
            first_seconds=FIRST_SECONDS,
            max_seconds=LONGEST_SECONDS,
            wait=_told_to_wait,
            stop=stop,
        )
        ms = (time.monotonic_ns() - started) // 1_000_000
        self._enter(tried, {"event": notice.name, "entry": notice.entry_hash}, attempts, ms)

    def lost(self, count: int) -> None:
        """Enter that events were given up unsent."""
        self._enter(Tried(error="webhook.unsent"), {"count": count}, 0, 0)

    def _tried(self, notice: Notice, stop: threading.Event) -> Tried:
        try:
            headers = self._signed(notice)
            answer = self.poster.post(self.settings.url, notice.body, headers, stop=stop)
        except GhostError as error:
            return Tried(error=error.code)
        code = "" if 200 <= answer.status < 300 else "webhook.status"
        return Tried(answer.status, code, answer.retry_after)

    def _signed(self, notice: Notice) -> dict[str, str]:
        reference = reference_of(self.name, self.settings)
        seconds = str(self.clock.now_us() // 1_000_000)
        key = _key(self.resolve(reference), self.name)
        return {
            "Content-Type": MEDIA_TYPE,
            "webhook-id": notice.id,
            "webhook-timestamp": seconds,
            "webhook-signature": signature(key, notice.id, seconds, notice.body),
        }

    def _enter(self, tried: Tried, fields: dict[str, Value], attempts: int, ms: int) -> None:
        """Write the outcome under the process's own session; where that fails, the log has it."""
        kind = "webhook.delivered" if tried.delivered else "webhook.failed"
        found: dict[str, Value] = {"webhook": self.name, **fields, "attempts": attempts, "ms": ms}
        if tried.status:
            found["http_status"] = tried.status
        if not tried.delivered:
            found["error"] = tried.error
            told = {name: value for name, value in found.items() if name != "event"}
            log.events(__name__).warning(kind, about=found.get("event", ""), **told)
        try:
            draft = Draft(self.recorder.system(), kind, ids.entry_id(), found)
            self.recorder.append(draft)
        except GhostError as error:
            log.events(__name__).error("webhook.unrecorded", webhook=self.name, code=error.code)


def signature(key: bytes, id_: str, seconds: str, body: bytes) -> str:
    """Return the value of `webhook-signature`: version, comma, base64 of the HMAC."""
    digest = hmac.digest(key, b"%s.%s.%s" % (id_.encode(), seconds.encode(), body), hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode('ascii')}"


def _key(secret: SecretBytes, name: str) -> bytes:
    """Return the bytes of the key: `whsec_` and base64, or the secret as it is."""
    value = secret.reveal()
    if not value.startswith(_SECRET_PREFIX):
        return value
    try:
        key = base64.b64decode(value[len(_SECRET_PREFIX) :], validate=True)
    except binascii.Error:
        key = b""
    if not key:  # everybody can sign with none
        raise ConfigError(
            f"webhooks.{name}: expected base64 after 'whsec_' in its secret",
            code="credential.malformed",
        )
    return key


def _told_to_wait(last: Tried) -> float | None:
    return None if last.retry_after is None else min(last.retry_after, LONGEST_SECONDS)


def reference_of(name: str, settings: WebhookSettings) -> Reference:
    """Return where the key of a webhook lies; raises ConfigError `credential.reference`."""
    return Reference.parse(str(settings.secret), credential=f"webhooks.{name}")


def check(name: str, settings: WebhookSettings, poster: Poster) -> None:
    """Refuse a webhook that could never deliver; raises ConfigError `config.webhook`."""
    if settings.secret is None:
        raise ConfigError(
            f"webhooks.{name}.secret: expected a reference, deliveries are signed",
            code="config.webhook",
            hint=f'ghost credential add {name}, then secret = "vault:{name}"',
        )
    reference_of(name, settings)
    try:
        poster.require_reachable(settings.url)
    except GhostError as error:
        raise ConfigError(
            f"webhooks.{name}.url: {error.message}", code="config.webhook", hint=error.hint
        ) from error
