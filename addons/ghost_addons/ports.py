"""Where the engine can listen: addresses that are here, a port that is free on all of them."""

from __future__ import annotations

import errno
import socket

from ghost_core.errors import UnavailableError


def addresses(host: str) -> tuple[str, ...]:
    """Return the addresses of `proxy.host`: for `localhost` both loopbacks."""
    return ("127.0.0.1", "::1") if host == "localhost" else (host,)


def free(hosts: tuple[str, ...], port: int) -> tuple[tuple[str, ...], int]:
    """Return the addresses that exist here, and a port that is free on all of them.

    The port is tried first, because the engine only logs a failure to bind.
    """
    usable = tuple(host for host in hosts if _bindable(host, 0))
    if not usable:
        raise UnavailableError(
            f"address {', '.join(hosts)}: is none of this machine", code="proxy.address"
        )
    if port == 0:
        return usable, _any_port(usable)
    for host in usable:
        if not _bindable(host, port):
            raise _busy(port)
    return usable, port


def _any_port(hosts: tuple[str, ...]) -> int:
    for _ in range(50):
        with _bound(hosts[0], 0) as listener:
            port = int(listener.getsockname()[1])
        if all(_bindable(host, port) for host in hosts):
            return port
    raise UnavailableError("no free port was found", code="port.busy")


def _bindable(host: str, port: int) -> bool:
    try:
        with _bound(host, port):
            return True
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EADDRINUSE, errno.EAFNOSUPPORT):
            return False
        raise UnavailableError(
            f"port {port}: cannot listen, {error.strerror}", code="proxy.address"
        ) from error


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


def _busy(port: int) -> UnavailableError:
    return UnavailableError(
        f"port {port}: in use by another process",
        code="port.busy",
        hint=f"ghost possess --stop, or choose another port: ghost possess --port {port + 1}",
    )


def not_listening(port: int, cause: Exception | None) -> UnavailableError:
    """Explain a listener that did not come up: somebody was faster, or the address is no good."""
    if isinstance(cause, OSError) and cause.errno == errno.EADDRINUSE:
        return _busy(port)
    return UnavailableError(f"port {port}: cannot listen, {cause}", code="proxy.address")
