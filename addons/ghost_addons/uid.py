"""Which user is at the other end of a loopback connection, from the kernel's table of TCP sockets."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterator
from pathlib import Path

type Endpoint = tuple[str, int]


def same_user(peer: tuple[str | int, ...], ours: tuple[str | int, ...]) -> bool:
    """Tell whether the client is a process of our own user on this machine.

    `peer` and `ours` are socket names. Where the kernel does not tell (not Linux), any loopback client is
    taken for ours, as documented.
    """
    there, here = _endpoint(peer), _endpoint(ours)
    if not ipaddress.ip_address(there[0]).is_loopback:
        return False
    if not sys.platform.startswith("linux"):
        return True
    return any(
        local == there and remote == here and uid == os.getuid()
        for local, remote, uid in _sockets()
    )


def _endpoint(name: tuple[str | int, ...]) -> Endpoint:
    address = ipaddress.ip_address(str(name[0]).partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address), int(name[1])


def _sockets() -> Iterator[tuple[Endpoint, Endpoint, int]]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            yield _decoded(fields[1]), _decoded(fields[2]), int(fields[7])


def _decoded(text: str) -> Endpoint:
    """Decode `0100007F:270F`: 32-bit words in the machine's order, the port in hex."""
    raw, _, port = text.partition(":")
    words = [bytes.fromhex(raw[start : start + 8]) for start in range(0, len(raw), 8)]
    packed = b"".join(word[::-1] if sys.byteorder == "little" else word for word in words)
    return _endpoint((str(ipaddress.ip_address(packed)), int(port, 16)))
