"""The socket `control.sock`: bound and found by one user alone, whom the kernel names (contract §3)."""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ghost_core.errors import GhostError, NotFoundError, UnavailableError
from ghost_ledger.session.runtime import SessionFolder

CLIENTS = 64
"""How many may be connected at once."""
_PATH_LIMIT = 100


def connect(channel: socket.socket, folder: SessionFolder, until: float) -> None:
    """Connect to the owner of a session; raises NotFoundError `session.no_owner`, and as sockets do."""
    limit(channel, until)
    try:
        with _short(folder) as address:
            channel.connect(address)
    except (FileNotFoundError, ConnectionRefusedError, NotFoundError) as error:
        raise _no_owner(folder.sid) from error
    if not same_user(channel):
        raise _no_owner(folder.sid)


def limit(channel: socket.socket, until: float) -> None:
    """Give the next step the time that is left, by the monotonic clock; raises TimeoutError."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    channel.settimeout(left)


def listen(folder: SessionFolder) -> socket.socket:
    """Return the bound socket, 0600; the one of a dead owner is replaced.

    Raises: UnavailableError `session.owned` if a living process answers there, `session.socket`.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short(folder) as address:
            _clear(folder, address)
            os.fchmod(listener.fileno(), 0o600)
            listener.bind(address)
        folder.socket.chmod(0o600)
        listener.listen(CLIENTS)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise UnavailableError(
            f"session {folder.sid}: its control socket cannot be bound, {error.strerror or error}",
            code="session.socket",
            hint="set XDG_RUNTIME_DIR to a shorter path that you own",
        ) from error
    except GhostError:
        listener.close()
        raise
    return listener


def _clear(folder: SessionFolder, address: str) -> None:
    """Remove the socket that a dead owner left; one that answers is somebody's."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(address)
        except FileNotFoundError:
            return
        except ConnectionRefusedError:
            folder.socket.unlink(missing_ok=True)
            return
        except BlockingIOError:
            pass
    raise UnavailableError(
        f"session {folder.sid}: another process answers on its control socket",
        code="session.owned",
        hint=f"ghost session show {folder.sid}",
    )


def same_user(channel: socket.socket) -> bool:
    """Ask the kernel who is at the other end; where it cannot say, the folder's 0700 has to do."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", channel.getsockopt(socket.SOL_SOCKET, option, size))
    return bool(uid == os.geteuid())


@contextmanager
def _short(folder: SessionFolder) -> Iterator[str]:
    """Give the socket's address in AF_UNIX's 108 bytes: a long path goes through a descriptor."""
    path = str(folder.socket)
    if len(os.fsencode(path)) <= _PATH_LIMIT or sys.platform != "linux":
        yield path
        return
    descriptor = folder.open()
    try:
        yield f"/proc/self/fd/{descriptor}/{folder.socket.name}"
    finally:
        os.close(descriptor)


def _no_owner(sid: str) -> NotFoundError:
    return NotFoundError(
        f"session {sid}: no process owns it",
        code="session.no_owner",
        hint=f"ghost possess --session-id {sid}",
    )
