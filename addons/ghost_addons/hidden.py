"""The secrets that this process knows, and the one scrubber that removes all of them.

Every secret that was ever resolved here stays in the scrubber until the process ends: a reply may echo the
value of yesterday.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from ghost_core import log
from ghost_core.errors import GhostError
from ghost_core.secret import SecretBytes
from ghost_credentials.binding import Credential, Credentials
from ghost_credentials.needles import MIN_ENCODED_BYTES
from ghost_credentials.references import Reference, SecretSource
from ghost_credentials.scrub import Scrubber

_WAITS_FOR_SOMEBODY = frozenset({"cmd", "keyring"})  # a program, or a human who unlocks
_WAITS = _WAITS_FOR_SOMEBODY | {"vault"}  # or the database
_THREADS = 32


class Secrets:
    """Resolves credentials late and remembers what must never be seen."""

    def __init__(self, source: SecretSource) -> None:
        self._source = source
        self._known: tuple[tuple[SecretBytes, str], ...] = ()
        self._lock = threading.Lock()
        self._waiting: dict[Reference, asyncio.Future[SecretBytes]] = {}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="ghost-secret")
        self._last: dict[str, SecretBytes] = {}
        self._learned: Credentials | None = None
        self._scrubber = Scrubber(())

    @property
    def known(self) -> tuple[SecretBytes, ...]:
        """Every secret that this process has held."""
        return tuple(secret for secret, _ in self._known)

    @property
    def scrubber(self) -> Scrubber:
        """The scrubber over every known secret."""
        return self._scrubber

    def resolve(self, credential: Credential) -> SecretBytes:
        """Return the credential's secret as it is now; it is scrubbed from here on."""
        secret = self._source.resolve(credential.reference)
        if self._last.get(credential.name) is not secret:
            self.hide(*credential.exposures(secret), owner=credential.name)
            self._last[credential.name] = secret
        return secret

    async def resolved(self, credential: Credential) -> SecretBytes:
        """Resolve as `resolve` does, and let only those calls wait that need the same credential.

        One thread asks for all of them, in threads of our own: who hangs must not take those that others use.
        """
        if credential.reference.scheme not in _WAITS:
            return self.resolve(credential)
        place = credential.reference  # under one name a changed configuration may have another
        if place not in self._waiting:
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(self._threads, self.resolve, credential)
            self._waiting[place] = work
            work.add_done_callback(lambda _: self._waiting.pop(place))
        return await asyncio.shield(self._waiting[place])

    def owner(self, data: bytes) -> str | None:
        """Return the name of a credential whose secret the text holds in any form, or None.

        A secret under `MIN_ENCODED_BYTES` stands in a text by chance and counts as none.
        """
        if not self._scrubber.holds(data):
            return None
        for secret, owner in self._known:
            if len(secret) >= MIN_ENCODED_BYTES and Scrubber((secret,)).holds(data):
                return owner
        return None

    def hide(self, *secrets: SecretBytes, owner: str = "") -> None:
        """Scrub these values, of one credential, from every reply, record and log from now on."""
        with self._lock:  # of two that come at once, each would leave the other out
            fresh = [secret for secret in secrets if secret not in self.known]
            if fresh:
                self._known += tuple((secret, owner) for secret in fresh)
                self._scrubber = Scrubber(self.known)
                for secret in fresh:
                    log.hide(secret)

    def learn(self, credentials: Credentials) -> None:
        """Resolve what neither a command nor a keyring holds, so that it is scrubbed from the start.

        The same credentials are learned once; those of a changed configuration are others.
        """
        if credentials is self._learned:
            return
        self._learned = credentials
        for credential in credentials.by_name.values():
            if credential.reference.scheme in _WAITS_FOR_SOMEBODY:
                continue
            try:
                self.resolve(credential)
            except GhostError:
                continue  # it is refused, with its reason, when a request needs it

    def surrender(self) -> tuple[SecretBytes, ...]:
        """Forget every secret, when the last session of the process ends; returns copies to search for."""
        copies = tuple(SecretBytes(secret.reveal()) for secret in self.known)
        for secret in self.known:
            log.forget(secret)
            secret.wipe()
        self._known = ()
        self._last.clear()
        self._learned = None
        self._source.forget()
        self._scrubber = Scrubber(())
        return copies
