"""Three names, one authority: CONNECT target, SNI and Host must agree before anything is judged.

The engine dials the first, checks certificates against the second and lets the client choose the third;
each of them alone can be pointed elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ghost_core.errors import DeniedError
from ghost_hooks.host import is_address
from ghost_hooks.target import DEFAULT_PORTS, canonical_host, split_authority

type Place = tuple[str, int]


def place_of(text: str, *, scheme: str) -> Place:
    """Return canonical host and port of an authority; raises DeniedError `target.host`."""
    host, port = split_authority(text, default=DEFAULT_PORTS[scheme])
    return canonical_host(host), port


def agree(place: Place, *, scheme: str, sni: str | None, names: Sequence[str]) -> None:
    """Check that SNI and every name in the request (Host, `:authority`) are the tunnel's place.

    Raises DeniedError `target.mismatch` (answered 421, RFC 9110 §15.5.20) or `target.host` (400).
    """
    _agree(place, scheme, sni, tuple(names))


@lru_cache(maxsize=256)  # a connection repeats itself; what does not agree raises, and is not kept
def _agree(place: Place, scheme: str, sni: str | None, names: tuple[str, ...]) -> None:
    if not names:
        raise DeniedError("the request names no host", code="target.host")
    for name in names:
        if place_of(name, scheme=scheme) != place:
            raise DeniedError("Host and CONNECT target disagree", code="target.mismatch")
    if scheme != "https":
        return
    if sni is None and not is_address(place[0]):
        raise DeniedError("the client named no server in TLS (SNI)", code="target.mismatch")
    if sni is not None and canonical_host(sni) != place[0]:
        raise DeniedError("SNI and CONNECT target disagree", code="target.mismatch")


def names_in(authority: str, host_lines: Sequence[str]) -> list[str]:
    """Return every name the request carries; raises DeniedError for more than one Host line.

    RFC 9112 §3.2 demands 400 for a second Host; HTTP/2 may repeat `:authority` in one Host line.
    """
    if len(host_lines) > 1:
        raise DeniedError(f"expected one Host, found {len(host_lines)}", code="target.host")
    return [name for name in (authority, *host_lines) if name]
