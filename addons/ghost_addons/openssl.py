"""Certificates and keys in the form that OpenSSL takes, made once: every handshake would make them anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from mitmproxy.net import tls

from ghost_addons import wrapping
from ghost_core.errors import FailedError

_SSL: Any = vars(tls)["SSL"]  # as the engine knows it
_KEPT = 128


def install() -> tuple[str, ...]:
    """Keep what is made, once; return the names of what is not there any more."""
    left: tuple[str, ...] = ()
    for owner, name in ((_SSL.X509, "from_cryptography"), (_SSL.PKey, "from_cryptography_key")):
        try:
            wrapping.around(owner, name, keeping)
        except FailedError:
            left += (name,)
    return left


def keeping[Made](make: Callable[..., Made]) -> Callable[..., Made]:
    """Wrap what makes one value of another: the last ones are kept."""
    return lru_cache(_KEPT)(make)
