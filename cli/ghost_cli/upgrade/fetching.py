"""GET over https: checked certificates, no way to plain http, a limit, and an end in time."""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, override
from urllib.parse import urlsplit

from ghost_core.errors import ConfigError, GhostError, NotFoundError, UnavailableError

__all__ = ["Fetcher"]

SECONDS: Final = 20.0
CHUNK: Final = 65_536


class _Redirect(urllib.request.HTTPRedirectHandler):
    """Follows to https only."""

    @override
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        try:
            require_https(newurl)
        except UnavailableError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Reads from servers; `roots` is a file of further certificates that are trusted."""

    roots: Path | None = None
    seconds: float = SECONDS
    now: Callable[[], float] = time.monotonic

    def get(self, url: str, *, limit: int, seconds: float, accept: str = "*/*") -> bytes:
        """Return a body of at most `limit` bytes, within `seconds`.

        Raises:
            UnavailableError: codes `upgrade.plain`, `upgrade.network`, `upgrade.size`.
            NotFoundError: code `upgrade.missing`, the server does not have it.
            ConfigError: code `config.upstream_ca`.
        """
        require_https(url)
        end = self.now() + seconds
        request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310  # https, as was checked
        try:
            with self._opener().open(request, timeout=self.seconds) as reply:
                return self._body(reply, limit, end, url)
        except urllib.error.HTTPError as error:
            error.close()
            raise _status(url, error.code) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _unreachable(url, _why(error)) from error

    def _body(self, reply: Any, limit: int, end: float, url: str) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := reply.read(CHUNK):
            size += len(part)
            parts.append(part)
            if size > limit:
                raise UnavailableError(
                    f"index {place(url)}: sends over {limit} bytes", code="upgrade.size"
                )
            if self.now() > end:
                raise _unreachable(url, "did not end in time")
        return b"".join(parts)

    def _opener(self) -> urllib.request.OpenerDirector:
        context = ssl.create_default_context()
        if self.roots is not None:
            try:
                context.load_verify_locations(self.roots)
            except OSError as error:
                raise ConfigError(
                    f"proxy.upstream_ca: {str(self.roots)!r} cannot be read as PEM",
                    code="config.upstream_ca",
                ) from error
        return urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context), _Redirect()
        )


def require_https(url: str) -> None:
    """Raise UnavailableError `upgrade.plain` for what is no https address."""
    try:
        parts = urlsplit(url)
        good = parts.scheme == "https" and bool(parts.hostname)
    except ValueError:
        good = False
    if not good:
        raise UnavailableError(
            f"index {place(url)}: expected an https address",
            code="upgrade.plain",
            hint="ghost upgrade --index https://HOST/simple/",
        )


def place(url: str) -> str:
    """Return an address as an error may show it: without user, password and query."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return repr(url.partition("?")[0].rpartition("@")[2][:200])
    return repr(f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"[:200])


def _status(url: str, status: int) -> GhostError:
    if status in {404, 410}:
        return NotFoundError(f"index {place(url)}: does not have it", code="upgrade.missing")
    return _unreachable(url, f"answers {status}")


def _unreachable(url: str, why: str) -> UnavailableError:
    return UnavailableError(
        f"index {place(url)}: cannot be reached, {why}",
        code="upgrade.network",
        hint="nothing was changed; look at the network, the proxy variables and --index",
    )


def _why(error: Exception) -> str:
    """Say what went wrong without what a library adds, which may repeat a password."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({cause.verify_message})"
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return type(cause).__name__
