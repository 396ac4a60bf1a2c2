"""The secrets that this process knows, and the one scrubber that removes all of them.

Every secret that was ever resolved here stays in the scrubber until the process ends: a reply may echo the
value of yesterday.
"""

from __future__ import annotations

from collections.abc import Iterable

from ghost_core import log
from ghost_core.errors import GhostError
from ghost_core.secret import SecretBytes
from ghost_credentials.binding import Credential
from ghost_credentials.references import SecretSource
from ghost_credentials.scrub import Scrubber


class Secrets:
    """Resolves credentials late and remembers what must never be seen."""

    def __init__(self, source: SecretSource) -> None:
        self._source = source
        self._known: list[SecretBytes] = []
        self._last: dict[str, SecretBytes] = {}
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
            self.hide(*credential.exposures(secret))
            self._last[credential.name] = secret
        return secret

    def hide(self, *secrets: SecretBytes) -> None:
        """Scrub these values from every reply, record and log from now on."""
        fresh = [secret for secret in secrets if secret not in self._known]
        if fresh:
            self._known += fresh
            self._scrubber = Scrubber(self._known)
            for secret in fresh:
                log.hide(secret)

    def learn(self, credentials: Iterable[Credential]) -> None:
        """Resolve what can be resolved without running a command, so that it is scrubbed from the start."""
        for credential in credentials:
            if credential.reference.scheme == "cmd":
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
        self._last.clear()
        self._source.forget()
        self._scrubber = Scrubber(())
        return copies
