"""Which credential may go to which target, and how it gets into the request.

Names are compared exactly: the caller hands in the canonical host. Secrets leave over https only.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from ghost_core.errors import ConfigError, DeniedError
from ghost_core.secret import SecretBytes
from ghost_credentials.grammar import require_value
from ghost_credentials.head import Head
from ghost_credentials.kinds import KINDS, Kind
from ghost_credentials.kinds.placeholder import Placeholder
from ghost_credentials.placeholder import holds, parse_placeholder, placeholder_for
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

HTTPS_PORT = 443

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)\Z")
_HOST = re.compile(
    r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^:\[\]/@?#\s]+))(?::(?P<port>[0-9]{1,5}))?\Z"
)
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
_MAX_NAME = 253
_MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class HostPattern:
    """An exact name or address, or `*.suffix` with exactly one label for the star, and one port."""

    host: str
    port: int = HTTPS_PORT

    @classmethod
    def parse(cls, text: str, *, credential: str) -> Self:
        """Read `name`, `name:port`, `[::1]:port` or `*.name`; raises ConfigError for anything else."""
        found = _HOST.match(text)
        if found is None:
            raise _host_error(credential, text)
        host = found["v6"] or found["name"]
        port = int(found["port"] or HTTPS_PORT)
        valid = _is_address(host) if found["v6"] else _is_address(host) or _is_name(host)
        if not valid or not 0 < port <= _MAX_PORT:
            raise _host_error(credential, text)
        return cls(host, port)

    def holds(self, host: str, port: int) -> bool:
        """Tell whether a canonical host and port are meant."""
        if port != self.port:
            return False
        if not self.host.startswith("*."):
            return host == self.host
        label, _, rest = host.partition(".")
        return rest == self.host[2:] and _LABEL.match(label) is not None


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
        build = KINDS.get(settings.kind)
        if build is None:
            raise ConfigError(
                f"credential {name!r}: expected a kind of {' '.join(KINDS)}, found {settings.kind!r}",
                code="credential.kind",
            )
        if not settings.hosts:
            raise _host_error(name, "")
        subject = f"credential {name!r}"
        return cls(
            name,
            Reference.parse(settings.secret or "", credential=name),
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

    def bound_to(self, scheme: str, host: str, port: int) -> bool:
        """Tell whether the secret may go there: https, and one of the hosts."""
        return scheme == "https" and any(pattern.holds(host, port) for pattern in self.hosts)

    def strip(self, head: Head, *, websocket: bool = False) -> Stripped:
        """Strip a head for this credential, which may have to keep its stand-in."""
        return inspect(head, websocket=websocket, placeholder=self.replaced)

    def inject(self, head: Head, secret: SecretBytes) -> Head:
        """Put the secret in its one place, after `strip`; raises ConfigError `credential.malformed`."""
        value = secret.reveal()
        require_value(value, subject=f"credential {self.name!r}")
        return self.kind.inject(head, value)

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

    def for_target(self, name: str | None, scheme: str, host: str, port: int) -> Credential | None:
        """Choose the credential of a request: the tool's, or for a raw scope (no name) the one bound there.

        Raises ConfigError `credential.unknown` for a name that is not configured, DeniedError
        `credential.unbound` when the tool's credential may not go there, DeniedError
        `credential.ambiguous` when two could.
        """
        if name is not None:
            return self._named(name, scheme, host, port)
        found = [each for each in self.by_name.values() if each.bound_to(scheme, host, port)]
        if len(found) > 1:
            names = " and ".join(sorted(repr(each.name) for each in found))
            raise DeniedError(
                f"{host}: expected one credential for this host, found {names}",
                code="credential.ambiguous",
                hint="grant a scope that names the tool, or remove the host from one of them",
            )
        return found[0] if found else None

    def stray(self, head: Head, scheme: str, host: str, port: int) -> Credential | None:
        """Return a credential whose stand-in is on its way to a host it is not bound to, or None."""
        for each in self.by_name.values():
            if not each.bound_to(scheme, host, port) and holds(head, each.stand_in):
                return each
        return None

    def _named(self, name: str, scheme: str, host: str, port: int) -> Credential:
        found = self.by_name.get(name)
        if found is None:
            raise ConfigError(
                f"credential {name!r}: is not configured",
                code="credential.unknown",
                hint=f"add [credentials.{name}] to ghost.toml",
            )
        if not found.bound_to(scheme, host, port):
            raise DeniedError(
                f"credential {name!r}: is not bound to {scheme}://{host}:{port}",
                code="credential.unbound",
                hint=f"a human can add the host to credentials.{name}.hosts in ghost.toml",
            )
        return found


def _is_address(host: str) -> bool:
    try:
        return str(ipaddress.ip_address(host)) == host
    except ValueError:
        return False


def _is_name(host: str) -> bool:
    star = host.startswith("*.")
    labels = (host[2:] if star else host).split(".")
    # a name that ends in a number is read as an address by some resolvers (WHATWG URL, host parsing)
    known = all(_LABEL.match(label) for label in labels) and not _NUMBER.match(labels[-1])
    # "*.com" would be every company there is
    return known and len(host) <= _MAX_NAME and (not star or len(labels) > 1)


def _host_error(credential: str, text: str) -> ConfigError:
    return ConfigError(
        f"credential {credential!r}: expected hosts such as api.example.com or localhost:8443, lower case, "
        f"found {text!r}",
        code="credential.hosts",
    )


__all__ = [
    "CLIENT_CREDENTIAL_HEADERS",
    "HOP_BY_HOP",
    "Credential",
    "Credentials",
    "HostPattern",
    "strip",
]
