"""One POST to an operator's own receiver: a judged address, checked TLS, no redirect, a deadline over all.

Nothing of the environment takes part: no proxy variable, no credential of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

from ghost_core.errors import ConfigError, DeniedError, FailedError
from ghost_core.settings import Settings
from ghost_hooks.address import require, resolve
from ghost_hooks.host import is_address
from ghost_hooks.target import Target

REPLY_LIMIT = 64 * 1024
_LOOK_SECONDS = 0.05
_STATUSES = range(100, 600)  # RFC 9110 §15; nobody could enter another one


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver said: status, body up to a limit, `over` if it was more, Retry-After in seconds."""

    status: int
    body: bytes
    over: bool
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Poster:
    """How receivers are reached: private places that may be dialled, further roots, seconds for it all."""

    allow_private: tuple[str, ...]
    extra_roots: Path | None
    timeout_seconds: float

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return how receivers are reached under these settings."""
        proxy = settings.proxy
        return cls(proxy.allow_private, proxy.upstream_ca, settings.hooks.timeout_seconds)

    def require_reachable(self, url: str) -> Target:
        """Return the target of a receiver's URL.

        Raises DeniedError: `target.…` for a malformed URL or an address that may not be dialled,
        `webhook.plain` for http to a place that is not named in `proxy.allow_private`.
        """
        target = Target.parse(url)
        named = {each.strip().lower() for each in self.allow_private}
        host = f"[{target.host}]" if ":" in target.host else target.host
        if target.scheme == "http" and f"{host}:{target.port}" not in named:
            raise DeniedError(
                "receiver: expected https; http only for a place that proxy.allow_private names",
                code="webhook.plain",
                hint=f'a human can allow it: proxy.allow_private = ["{host}:{target.port}"]',
            )
        if is_address(target.host):
            ip, port = target.host, target.port
            require(ip, allowed=self.allow_private, host=ip, port=port)
        return target

    def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        stop: threading.Event | None = None,
        reply_limit: int = REPLY_LIMIT,
    ) -> Answer:
        """Send the body and return the answer; it can wait, so call it in a thread, and end it by `stop`.

        Of a body longer than `reply_limit` bytes the rest is left unread.

        Raises:
            DeniedError: `target.address`, the name leads to an address that may not be dialled.
            FailedError: `target.unresolved`, `webhook.timeout`, `webhook.tls`, `webhook.unreachable`.
            ConfigError: `config.upstream_ca`, the further roots cannot be read.
        """
        target = self.require_reachable(url)
        address = asyncio.run(
            resolve(
                target.host,
                target.port,
                allow_private=self.allow_private,
                timeout_seconds=self.timeout_seconds,
            )
        )
        context = _context(self.extra_roots) if target.scheme == "https" else None
        with _deadline(self.timeout_seconds, stop or threading.Event()) as line:
            try:
                line.dial(address, target, context)
                return _exchange(line, target, body, headers, reply_limit)
            except (OSError, http.client.HTTPException, ValueError) as error:
                # Not chained: the library's text may repeat what was sent.
                raise _failure(error, line) from None


class _Line:
    """The connection under a deadline: when it is over, whatever waits on the socket is woken."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.over = False
        self.sock: socket.socket | None = None
        self._lock = threading.Lock()

    def dial(self, address: str, target: Target, context: ssl.SSLContext | None) -> None:
        """Connect to the very address that was judged; the certificate must be the name's."""
        self._hold(socket.create_connection((address, target.port), timeout=self.seconds))
        if context is not None and self.sock is not None:
            name = target.host
            secured = context.wrap_socket(
                self.sock, server_hostname=name, do_handshake_on_connect=False
            )
            self._hold(secured)
            secured.do_handshake()

    def _hold(self, sock: socket.socket) -> None:
        with self._lock:
            self.sock = sock
            if self.over:
                raise TimeoutError

    def cut(self) -> None:
        """End the connection; called by the timer."""
        with self._lock:
            self.over = True
            if self.sock is not None:
                with contextlib.suppress(OSError):
                    self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the socket back."""
        if self.sock is not None:
            self.sock.close()


@contextlib.contextmanager
def _deadline(seconds: float, stop: threading.Event) -> Iterator[_Line]:
    line, done, end = _Line(seconds), threading.Event(), time.monotonic() + seconds

    def watch() -> None:
        while not done.wait(min(_LOOK_SECONDS, seconds)):
            if stop.is_set() or time.monotonic() > end:
                line.cut()
                return

    threading.Thread(target=watch, name="ghost-deadline", daemon=True).start()
    try:
        yield line
    finally:
        done.set()
        line.close()


def _exchange(
    line: _Line, target: Target, body: bytes, headers: Mapping[str, str], limit: int
) -> Answer:
    connection = http.client.HTTPConnection(target.host, target.port)
    connection.sock = line.sock
    named = {"Host": target.authority, "Connection": "close", "User-Agent": "ghost", **headers}
    connection.request("POST", target.path_and_query, body=body, headers=named)
    answer = connection.getresponse()
    try:
        if answer.status not in _STATUSES:
            raise http.client.BadStatusLine("")
        data = answer.read(limit + 1)
        after = answer.getheader("Retry-After", "")
    finally:
        answer.close()
    wait = float(after) if after.isascii() and after.isdigit() else None
    if line.over:
        raise TimeoutError
    return Answer(answer.status, data[:limit], len(data) > limit, wait)


def _failure(error: Exception, line: _Line) -> FailedError:
    if line.over or isinstance(error, TimeoutError):
        return FailedError("receiver: no answer in time", code="webhook.timeout")
    if isinstance(error, ssl.SSLError):
        return FailedError("receiver: its certificate is not accepted", code="webhook.tls")
    return FailedError("receiver: cannot be reached, or broke off", code="webhook.unreachable")


def _context(extra: Path | None) -> ssl.SSLContext:
    """Return the TLS context for the roots in force; raises ConfigError `config.upstream_ca`."""
    try:
        return _read_roots(extra, 0 if extra is None else extra.stat().st_mtime_ns)
    except OSError as error:
        raise ConfigError(
            f"proxy.upstream_ca: expected a PEM file with certificates at {str(extra)!r}",
            code="config.upstream_ca",
        ) from error


@lru_cache(maxsize=4)
def _read_roots(extra: Path | None, _changed_at: int) -> ssl.SSLContext:
    """Read the system's roots and the further ones, which takes some milliseconds, once for each change."""
    context = ssl.create_default_context()
    if extra is not None:
        context.load_verify_locations(cafile=extra)
    return context
