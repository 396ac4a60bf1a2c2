"""The secrets that this process knows, and the one scrubber that removes all of them.

Every secret that was ever resolved here stays in the scrubber until the process ends: a reply may echo the
value of yesterday.
"""

from __future__ import annotations

from ghost_core import log
from ghost_core.errors import GhostError
from ghost_core.secret import SecretBytes
from ghost_credentials.binding import Credential, Credentials
from ghost_credentials.needles import MIN_ENCODED_BYTES
from ghost_credentials.references import SecretSource
from ghost_credentials.scrub import Scrubber

_WAITS_FOR_SOMEBODY = frozenset({"cmd", "keyring"})  # a program, or a human who unlocks


class Secrets:
    """Resolves credentials late and remembers what must never be seen."""

    def __init__(self, source: SecretSource) -> None:
        self._source = source
        self._known: list[SecretBytes] = []
        self._owners: list[str] = []
        self._last: dict[str, SecretBytes] = {}
        self._learned: Credentials | None = None
        self._scrubber = Scrubber(())

    @property
    def known(self) -> tuple[SecretBytes, ...]:
        """Every secret that this process has held."""
        return tuple(self._known)

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

    def owner(self, data: bytes) -> str | None:
        """Return the name of a credential whose secret the text holds in any form, or None.

        A secret under `MIN_ENCODED_BYTES` stands in a text by chance and counts as none.
        """
        if not self._scrubber.holds(data):
            return None
        for secret, owner in zip(self._known, self._owners, strict=True):
            if len(secret) >= MIN_ENCODED_BYTES and Scrubber((secret,)).holds(data):
                return owner
        return None

    def hide(self, *secrets: SecretBytes, owner: str = "") -> None:
        """Scrub these values, of one credential, from every reply, record and log from now on."""
        fresh = [secret for secret in secrets if secret not in self._known]
        if fresh:
            self._known += fresh
            self._owners += [owner] * len(fresh)
            self._scrubber = Scrubber(self._known)
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
        copies = tuple(SecretBytes(secret.reveal()) for secret in self._known)
        for secret in self._known:
            log.forget(secret)
            secret.wipe()
        self._known = []
        self._owners = []
        self._last.clear()
        self._learned = None
        self._source.forget()
        self._scrubber = Scrubber(())
        return copies
