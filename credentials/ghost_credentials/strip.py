"""What never passes from the client to the upstream: its own credentials and the lines of one hop.

RFC 9110 §7.6.1 names the lines of a hop. `Transfer-Encoding` stays, because the engine frames the
body by it and drops it for HTTP/2; `te: trailers` stays, because gRPC needs it and HTTP/2 allows it
(RFC 9113 §8.2.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ghost_core.header_name import folded
from ghost_credentials.head import Head
from ghost_credentials.placeholder import occurs_in

CLIENT_CREDENTIAL_HEADERS: tuple[bytes, ...] = (
    b"authorization",
    b"proxy-authorization",
    b"cookie",
    b"x-api-key",
    b"api-key",
    b"apikey",
    b"x-apikey",
    b"x-goog-api-key",
    b"x-auth-token",
    b"x-auth-key",
    b"x-access-token",
    b"x-amz-security-token",
    b"x-authorization",
    b"x-forwarded-authorization",
    b"x-vault-token",
    b"x-shopify-access-token",
    b"x-figma-token",
    b"x-functions-key",
    b"x-rapidapi-key",
    b"x-subscription-token",
    b"xi-api-key",
    b"ocp-apim-subscription-key",
    b"private-token",
    b"job-token",
    b"deploy-token",
    b"dd-api-key",
    b"dd-application-key",
)
"""Headers in which clients carry credentials of their own; `_` counts as `-`."""

HOP_BY_HOP: tuple[bytes, ...] = (
    b"connection",
    b"expect",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"upgrade",
    b"x-ghost-token",
)
"""Lines that concern one hop, and our own token; every `Proxy-…` line goes with them."""

# what Connection may name without effect: without these the message would be another one
_ESSENTIAL = frozenset((b"host", b"content-length", b"transfer-encoding", b"content-type", b"te"))
_CREDENTIALS = frozenset(CLIENT_CREDENTIAL_HEADERS)
_ALWAYS = _CREDENTIALS | frozenset(HOP_BY_HOP)
_CONNECTION = frozenset((b"connection", b"proxy-connection"))


@dataclass(frozen=True, slots=True)
class Stripped:
    """The head that may go on, and the names (lower case, no values) of the lines that went."""

    head: Head
    removed: tuple[str, ...]


def strip(head: Head, *, websocket: bool = False, placeholder: bytes | None = None) -> Head:
    """Remove the client's credentials and the lines of this hop.

    `websocket` keeps one `upgrade: websocket` with its `connection: upgrade`. `placeholder` keeps
    credential lines that hold it, also inside Basic, because a `placeholder` binding is about to
    replace it there.
    """
    return inspect(head, websocket=websocket, placeholder=placeholder).head


def unnamed(head: Head) -> Head:
    """Return the head without the lines that Connection names, so that nobody judges what does not go on.

    Credentials and the other lines of this hop stay, for `strip` to decide on.
    """
    named = _named_by_connection(head)
    if not named:
        return head
    kept = [line for line in head.headers if not _ends_here(folded(line[0]), named)]
    return Head(head.method, head.path, tuple(kept))


def _ends_here(plain: bytes, named: frozenset[bytes]) -> bool:
    return plain in named and _is_ordinary(plain)


def inspect(head: Head, *, websocket: bool = False, placeholder: bytes | None = None) -> Stripped:
    """Strip as `strip` does, and report which lines were removed."""
    named = _named_by_connection(head)
    kept: list[tuple[bytes, bytes]] = []
    removed: list[bytes] = []
    for name, value in head.headers:
        if _passes(name, value, named=named, placeholder=placeholder):
            kept.append((name, value))
        else:
            removed.append(name.lower())
    if websocket and b"websocket" in _tokens(head, b"upgrade"):
        kept += [(b"connection", b"upgrade"), (b"upgrade", b"websocket")]
    names = dict.fromkeys([name.decode("latin-1") for name in removed])
    return Stripped(Head(head.method, head.path, tuple(kept)), tuple(names))


def _passes(
    name: bytes, value: bytes, *, named: frozenset[bytes], placeholder: bytes | None
) -> bool:
    plain = folded(name)
    if _is_ordinary(plain):
        return plain not in named
    if plain == b"te":
        return value.strip().lower() == b"trailers"
    if plain in _CREDENTIALS and not plain.startswith(b"proxy-"):
        return placeholder is not None and plain not in named and occurs_in(value, placeholder)
    return False


@lru_cache(maxsize=1024)
def _is_ordinary(plain: bytes) -> bool:
    """Tell whether a header may pass unless Connection names it."""
    return not (plain in _ALWAYS or plain.startswith(b"proxy-"))


def _named_by_connection(head: Head) -> frozenset[bytes]:
    if all(name.lower() not in _CONNECTION for name, _ in head.headers):
        return frozenset()
    tokens = _tokens(head, b"connection") | _tokens(head, b"proxy-connection")
    return frozenset(folded(token) for token in tokens) - _ESSENTIAL


def _tokens(head: Head, name: bytes) -> frozenset[bytes]:
    parts = b",".join(head.values(name)).split(b",")
    return frozenset(part.strip().lower() for part in parts if part.strip())
