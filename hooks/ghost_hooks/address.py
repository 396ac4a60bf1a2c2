"""Which addresses may be dialled: a name is resolved once, every answer is judged, one is used."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

from ghost_core.errors import DeniedError, FailedError
from ghost_hooks.host import is_address

type Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
type Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_HTTPS = 443
_PRIVATE = "is a private address"
# Never, whatever is configured: metadata services, this network, groups, and reserved space.
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "169.254.0.0/16",
        "192.0.0.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "::/128",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
        "fd00:ec2::/32",
        "fd20:ce::/32",
    )
)
# What an own network may hold; dialled only if named.
_LOCAL_SIX = tuple(
    ipaddress.ip_network(text) for text in ("::1/128", "fc00::/7", "64:ff9b:1::/48", "2001::/23")
)
_GLOBAL_SIX = ipaddress.ip_network("2000::/3")
_COMPATIBLE = ipaddress.ip_network("::/96")
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def judge(ip: str, *, allowed: Sequence[str], host: str, port: int) -> str | None:
    """Return why the address must not be dialled, or None if it may.

    `allowed` is `proxy.allow_private`: "name:port" or "ip:port", which opens private, loopback,
    carrier and unique local addresses, and nothing else.
    """
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return "is no IP address"
    if _contained(address, _NEVER):
        return "is a link-local, metadata, multicast or reserved address"
    inner = _embedded(address)
    if inner is not None:
        hidden = _contained(inner, _NEVER) or not inner.is_global
        return "hides a private IPv4 address" if hidden else None
    six = isinstance(address, ipaddress.IPv6Address)
    if six and not _contained(address, (_GLOBAL_SIX, *_LOCAL_SIX)):
        return "is a reserved address"
    if address.is_global and not _contained(address, _LOCAL_SIX):
        return None
    return None if _named(allowed, {host, str(address)}, port) else _PRIVATE


async def resolve(
    host: str,
    port: int,
    *,
    allow_private: Sequence[str] = (),
    resolver: Resolver | None = None,
    timeout_seconds: float = 10.0,
) -> str:
    """Return the one address to dial for a canonical host.

    Raises: DeniedError `target.address` if any answer is refused, FailedError
    `target.unresolved` if there is no answer.
    """
    answers = await resolve_all(
        host,
        port,
        allow_private=allow_private,
        resolver=resolver,
        timeout_seconds=timeout_seconds,
    )
    return answers[0]


async def resolve_all(
    host: str,
    port: int,
    *,
    allow_private: Sequence[str] = (),
    resolver: Resolver | None = None,
    timeout_seconds: float = 10.0,
) -> tuple[str, ...]:
    """Return every address of the host in the resolver's order, all of them judged."""
    answers: tuple[str, ...] = (host,)
    if not is_address(host):
        answers = await _ask(resolver or system_resolver, host, port, timeout_seconds)
    for ip in answers:
        require(ip, allowed=allow_private, host=host, port=port)
    return answers


def require(ip: str, *, allowed: Sequence[str], host: str, port: int) -> None:
    """Let an address pass that may be dialled; raises DeniedError `target.address` for others."""
    reason = judge(ip, allowed=allowed, host=host, port=port)
    if reason is None:
        return
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    hint = f'a human can allow private targets: proxy.allow_private = ["{place}"]'
    if reason != _PRIVATE:
        hint = "no setting allows this address; name another host"
    raise DeniedError(f"host {host!r}: {ip} {reason}", code="target.address", hint=hint)


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Ask the loop's resolver for stream addresses."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(answer[4][0]) for answer in found]


async def _ask(resolver: Resolver, host: str, port: int, timeout_seconds: float) -> tuple[str, ...]:
    try:
        async with asyncio.timeout(timeout_seconds):
            answers = tuple(dict.fromkeys(await resolver(host, port)))
    except (OSError, UnicodeError) as error:
        # TimeoutError is an OSError.
        raise _unresolved(host, "cannot be resolved") from error
    if not answers:
        raise _unresolved(host, "has no address")
    return answers


def _unresolved(host: str, why: str) -> FailedError:
    hint = f"check the name; a human can see what this machine makes of it: getent hosts {host}"
    return FailedError(f"host {host!r}: {why}", code="target.unresolved", hint=hint)


def _contained(
    address: Address, networks: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]
) -> bool:
    return any(address in network for network in networks)


def _embedded(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that a mapped, compatible, NAT64 or 6to4 address leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _named(allowed: Sequence[str], names: set[str], port: int) -> bool:
    wanted = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
    if port == _HTTPS:
        wanted |= {f"[{name}]" if ":" in name else name for name in names}
    return any(entry.strip().lower() in wanted for entry in allowed)
