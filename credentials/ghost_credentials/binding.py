"""Which credential may go to which target, and how it gets into the request.

The caller hands in the canonical host and path. Secrets leave over https only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from ghost_core.errors import ConfigError, DeniedError
from ghost_core.secret import SecretBytes
from ghost_credentials.grammar import require_value
from ghost_credentials.head import Head
from ghost_credentials.host import HostPattern, Weight, no_hosts, readings
from ghost_credentials.kinds import KINDS, Kind
from ghost_credentials.kinds.body import Body
from ghost_credentials.kinds.placeholder import Placeholder
from ghost_credentials.placeholder import exposed, parse_placeholder, placeholder_for
from ghost_credentials.references import Reference
from ghost_credentials.strip import (
    CLIENT_CREDENTIAL_HEADERS,
    HOP_BY_HOP,
    Stripped,
    inspect,
    strip,
)

if TYPE_CHECKING:
    from ghost_core.settings import CredentialSettings, Settings

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Credential:
    """One credential of the configuration: the reference to its secret, its kind, and where it may go."""

    name: str
    reference: Reference
    hosts: tuple[HostPattern, ...]
    kind: Kind
    placeholder: bytes | None = None

    @classmethod
    def from_settings(cls, name: str, settings: CredentialSettings) -> Self:
        """Read one credential; raises ConfigError naming it and what was expected."""
        if _NAME.match(name) is None:
            raise ConfigError(
                f"credential {name!r}: expected a name of up to 64 letters, digits and ._-",
                code="credential.name",
            )
        build = KINDS.get(settings.kind)
        if build is None:
            raise ConfigError(
                f"credential {name!r}: kind {settings.kind!r} is not in this version",
                code="credential.kind",
                hint=f"expected one of {' '.join(KINDS)}",
            )
        if not settings.hosts:
            raise no_hosts(name)
        subject = f"credential {name!r}"
        reference = Reference.parse(settings.secret or "", credential=name)
        reference.require_package()
        return cls(
            name,
            reference,
            tuple(HostPattern.parse(text, credential=name) for text in settings.hosts),
            build(settings, name=name),
            parse_placeholder(settings.placeholder, subject=subject)
            if settings.placeholder
            else None,
        )

    @property
    def stand_in(self) -> bytes:
        """What the agent may hold: the configured placeholder, else the one made of the name."""
        return self.placeholder or placeholder_for(self.name).encode("ascii")

    @property
    def replaced(self) -> bytes | None:
        """The text that injection replaces: hand it to `strip`; None where the kind replaces nothing."""
        return self.kind.placeholder if isinstance(self.kind, Placeholder) else None

    @property
    def fills_body(self) -> bool:
        """Whether the secret stands in the body, which must be held and read for it."""
        return isinstance(self.kind, Body)

    def bound_to(self, scheme: str, host: str, port: int, path: str = "/") -> bool:
        """Tell whether the secret may go there: https, one of the hosts, the path in each reading."""
        return all(self.weight(scheme, host, port, each) is not None for each in readings(path))

    def weight(self, scheme: str, host: str, port: int, path: str) -> Weight | None:
        """Return how much of the path the closest of the hosts says, or None where none is meant."""
        if scheme != "https":
            return None
        found = (each for each in self.hosts if each.holds(host, port) and each.covers(path))
        return max((each.weight for each in found), default=None)

    def strip(self, head: Head, *, websocket: bool = False) -> Stripped:
        """Strip a head for this credential, which may have to keep its stand-in."""
        return inspect(head, websocket=websocket, placeholder=self.replaced)

    def inject(self, head: Head, secret: SecretBytes) -> Head:
        """Put the secret in its one place of the head, after `strip`.

        Raises ConfigError `credential.malformed`, DeniedError `credential.place` without a place for it.
        """
        return self.kind.inject(head, self._value(secret))

    def fill(self, head: Head, body: bytes, secret: SecretBytes) -> bytes:
        """Put the secret in its one place of the body, for a kind that has one; else return it as it is.

        Raises as `inject` does, and DeniedError `credential.body` or `credential.media`.
        """
        if not isinstance(self.kind, Body):
            return body
        return self.kind.fill(head, body, self._value(secret))

    def _value(self, secret: SecretBytes) -> bytes:
        value = secret.reveal()
        require_value(value, subject=f"credential {self.name!r}")
        return value

    def require_fit(self, secret: SecretBytes) -> None:
        """Check that a secret can stand where this credential puts it; raises ConfigError."""
        self.inject(Head("POST", f"/{self.stand_in.decode('ascii')}"), secret)
        if isinstance(self.kind, Body):
            self.kind.text(secret.reveal())

    def exposures(self, secret: SecretBytes) -> tuple[SecretBytes, ...]:
        """Return what the scrubber has to know of this credential."""
        return tuple(SecretBytes(text) for text in self.kind.exposures(secret.reveal()))


@dataclass(frozen=True, slots=True)
class Credentials:
    """All credentials of the configuration."""

    by_name: Mapping[str, Credential]

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Read every credential; raises ConfigError for the first that cannot be used."""
        found = {
            name: Credential.from_settings(name, section)
            for name, section in settings.credentials.items()
        }
        return cls(MappingProxyType(found))

    def for_target(
        self, name: str | None, scheme: str, host: str, port: int, path: str = "/"
    ) -> Credential | None:
        """Choose the credential of a request: the tool's, or for a raw scope (no name) the one bound there.

        Of several on one host the one with the longest path is meant.

        Raises ConfigError `credential.unknown` for a name that is not configured, DeniedError
        `credential.unbound` when the tool's credential may not go there, DeniedError
        `credential.ambiguous` when two could.
        """
        if name is not None:
            return self._named(name, scheme, host, port, path)
        found: dict[str, Credential | None] = {}
        for reading in readings(path):
            closest = self._closest(scheme, host, port, reading)
            found |= dict.fromkeys(["no credential"]) if not closest else {}
            found |= {each.name: each for each in closest}
        if len(found) > 1:
            names = " and ".join(
                sorted(repr(name) if each else name for name, each in found.items())
            )
            raise DeniedError(
                f"{host}: expected one credential for this host and path, found {names}",
                code="credential.ambiguous",
                hint="grant a scope that names the tool, or give one of them a longer path in its hosts",
            )
        return next(iter(found.values()))

    def stray(
        self,
        head: Head,
        scheme: str,
        host: str,
        port: int,
        path: str = "/",
        *,
        leaving: Head | None = None,
    ) -> Credential | None:
        """Return a credential whose stand-in is on its way to a place that its binding does not name.

        That is anywhere in the head for a target it is not bound to, and what is left of it in `leaving`,
        the head as it will be sent, for its own.
        """
        brought = exposed(head)
        for each in self.by_name.values():
            if each.stand_in not in brought:
                continue
            if not each.bound_to(scheme, host, port, path):
                return each
            if leaving is not None and each.stand_in in exposed(leaving):
                return each
        return None

    def _closest(self, scheme: str, host: str, port: int, path: str) -> list[Credential]:
        """Return who says most of one reading of a path."""
        weights = [
            (weight, each)
            for each in self.by_name.values()
            if (weight := each.weight(scheme, host, port, path)) is not None
        ]
        most = max((weight for weight, _ in weights), default=None)
        return [each for weight, each in weights if weight == most]

    def _named(self, name: str, scheme: str, host: str, port: int, path: str) -> Credential:
        found = self.by_name.get(name)
        if found is None:
            raise ConfigError(
                f"credential {name!r}: is not configured",
                code="credential.unknown",
                hint=f"add [credentials.{name}] to ghost.toml",
            )
        if not found.bound_to(scheme, host, port, path):
            raise DeniedError(
                f"credential {name!r}: is not bound to this path of {scheme}://{host}:{port}",
                code="credential.unbound",
                hint=f"a human can add the host to credentials.{name}.hosts in ghost.toml",
            )
        return found


__all__ = [
    "CLIENT_CREDENTIAL_HEADERS",
    "HOP_BY_HOP",
    "Credential",
    "Credentials",
    "HostPattern",
    "strip",
]
