"""Where a secret may go: a host, a port, and a part of the host's paths, in the one form that is judged.

Names are compared exactly: the caller hands in the canonical host and path. A path that servers read in
two ways belongs to a binding only if each reading does.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import unquote

from ghost_core import wildcard
from ghost_core.errors import ConfigError

HTTPS_PORT: Final = 443

_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)\Z")
_HOST = re.compile(
    r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^:\[\]/@?#\s]+))(?::(?P<port>[0-9]{1,5}))?(?P<path>/.*)?\Z"
)
_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
_MAX_NAME = 253
_MAX_PORT = 65535
_REST = "/**"
_EVERYWHERE = re.compile(r"/")
# pchar of RFC 3986 §3.3 in its canonical spelling: no escapes, and no ";", which begins a parameter
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~!$&'()*+,=:@-]+)+\Z")
_PARAMETERS = re.compile(r";[^/]*")
_SLASHES = re.compile(r"//+")
_CHANGES: tuple[Callable[[str], str], ...] = (
    unquote,
    lambda path: _PARAMETERS.sub("", path),
    lambda path: _SLASHES.sub("/", path),
)
_ROUNDS = 4

type Weight = tuple[bool, int, int]


@dataclass(frozen=True, slots=True)
class HostPattern:
    """An exact name or address, or `*.suffix` with exactly one label for the star; one port; some paths."""

    host: str
    port: int = HTTPS_PORT
    path: str = _REST
    paths: re.Pattern[str] = field(default=_EVERYWHERE, compare=False, repr=False)

    @classmethod
    def parse(cls, text: str, *, credential: str) -> Self:
        """Read `name`, `name:port`, `[::1]:port` or `*.name`, each with a path; raises ConfigError.

        In the path `*` stands for one or more characters of a segment, a last `/**` for the rest.
        """
        found = _HOST.match(text)
        if found is None:
            raise _host_error(credential, text)
        host = found["v6"] or found["name"]
        port = int(found["port"] or HTTPS_PORT)
        valid = _is_address(host) if found["v6"] else _is_address(host) or _is_name(host)
        if not valid or not 0 < port <= _MAX_PORT:
            raise _host_error(credential, text)
        path = found["path"] or _REST
        return cls(host, port, path, _paths(path, text, credential=credential))

    @property
    def weight(self) -> Weight:
        """How much of the path it says: a whole path before a beginning, then by length."""
        return (
            not self.path.endswith(_REST),
            len(self.path.removesuffix(_REST).replace("*", "")),
            -self.path.removesuffix(_REST).count("*"),
        )

    def holds(self, host: str, port: int) -> bool:
        """Tell whether a canonical host and port are meant."""
        if port != self.port:
            return False
        if not self.host.startswith("*."):
            return host == self.host
        label, _, rest = host.partition(".")
        return rest == self.host[2:] and _LABEL.match(label) is not None

    def covers(self, path: str) -> bool:
        """Tell whether one reading of a path is meant."""
        return self.paths.match(path) is not None


def readings(path: str) -> tuple[str, ...]:
    """Return a canonical path in every way that a server may read it.

    Escapes are decoded, even again, parameters dropped and slashes merged, in any order.
    """
    if "%" not in path and ";" not in path:
        return (path,)
    found = fresh = [path]
    for _ in range(_ROUNDS):
        made = [change(each) for each in fresh for change in _CHANGES]
        fresh = [each for each in dict.fromkeys(made) if each not in found]
        found = [*found, *fresh]
    return tuple(found)


def _paths(path: str, text: str, *, credential: str) -> re.Pattern[str]:
    if path == _REST:
        return _EVERYWHERE
    body = path.removesuffix(_REST)
    if "**" in body or _PATH.match(body) is None:
        raise _host_error(credential, text)
    return wildcard.compiled(body.split("*"), rest=body != path)


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
        f"credential {credential!r}: expected hosts such as api.example.com, localhost:8443 or "
        f"api.example.com/v1/**, lower case, found {text!r}",
        code="credential.hosts",
    )


def no_hosts(credential: str) -> ConfigError:
    """Return the error of a credential that may go nowhere."""
    return _host_error(credential, "")
