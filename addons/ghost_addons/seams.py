"""Small parts of the engine, replaced by shorter ones that do the same; each only where it is as we read it.

The engine checks the types of its own messages, copies its options, and looks headers up through five
functions, several times for each call. A part that changed since it was read is left as it is.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from mitmproxy import http
from mitmproxy.connection import Connection
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context
from mitmproxy.proxy.layer import Layer
from mitmproxy.proxy.layers.http import HttpLayer
from mitmproxy.proxy.tunnel import TunnelLayer

from ghost_addons import routing

type Fields = Iterable[tuple[Any, Any]]

PLAIN_OPTIONS = (
    "body_size_limit", "connection_strategy", "keep_host_header", "normalize_outbound_headers", "proxy_debug",
    "store_streamed_bodies", "stream_large_bodies", "validate_inbound_headers", "websocket",
)  # fmt: skip
"""Options that the layers ask for at every call, and that never change while we run."""


def known(function: object, expected: object) -> bool:
    """Tell whether a function of the engine is the one that was read.

    `expected` is the function itself, where it comes from the standard library, or the SHA-256 of its
    source (hex, cut to 16 digits).
    """
    if not isinstance(expected, str):
        return function is expected
    try:
        source = inspect.getsource(function)  # type: ignore[arg-type]  # whatever it is, it has no source then
    except (OSError, TypeError):
        return False
    return hashlib.sha256(source.encode()).hexdigest()[:16] == expected


def install() -> tuple[str, ...]:
    """Put the shorter parts in place, once; returns the names of those that were left out."""
    left: list[str] = []
    for owner, name, expected, ours in _PARTS:
        if vars(owner).get(name) is ours:
            continue
        if known(getattr(owner, name, None), expected):
            setattr(owner, name, ours)
        else:
            left.append(f"{owner.__name__}.{name}")
    return tuple(left)


def freeze(options: Options) -> None:
    """Keep options as plain attributes: the engine copies an option whenever it is asked for it."""
    vars(options).update(
        {name: getattr(options, name) for name in PLAIN_OPTIONS if name in options}
    )


@lru_cache(maxsize=256)
def _wanted(name: str | bytes) -> bytes:
    plain = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
    return plain.lower()


def _values(headers: http.Headers, name: str | bytes) -> list[str]:
    wanted = _wanted(name)
    return [
        value.decode("utf-8", "surrogateescape")
        for found, value in headers.fields
        if found.lower() == wanted
    ]


def _get(headers: http.Headers, name: str | bytes, default: object = None) -> object:
    found = _values(headers, name)
    return ", ".join(found) if found else default


def _holds(headers: http.Headers, name: object) -> bool:
    if not isinstance(name, str | bytes):
        return False
    wanted = _wanted(name)
    return any(found.lower() == wanted for found, _ in headers.fields)


def _unchecked(_: object) -> None:
    """Check nothing: the engine made these values itself, from what its parser had checked."""


def _fork(parent: context.Context) -> context.Context:
    """Copy a context without making the server that would be thrown away."""
    copy = context.Context.__new__(context.Context)
    copy.client, copy.options, copy.server = parent.client, parent.options, parent.server
    copy.layers = parent.layers.copy()
    return copy


def _same(one: Connection, other: object) -> bool:
    """Compare connections as the engine does; most often it is the same object."""
    return one is other or (isinstance(other, Connection) and one.id == other.id)


def _made(kind: type[object], *_: object, **__: object) -> object:
    """Make a hook without asking each time whether its class is one."""
    return object.__new__(kind)


_begin: Callable[..., None] = http.Headers.__init__


def _filled(headers: http.Headers, fields: Fields = (), **named: str | bytes) -> None:
    """Fill headers from their lines; those by name are rare and go the engine's way."""
    if named:
        _begin(headers, fields, **named)
        return
    headers.fields = lines = tuple([(name, value) for name, value in fields])
    for name, value in lines:
        if type(name) is not bytes or type(value) is not bytes:
            raise TypeError("header lines must be bytes")


_PARTS: tuple[tuple[type, str, object, Callable[..., object]], ...] = (
    (http.MessageData, "__post_init__", "f65088e210cd9cc1", _unchecked),
    (http.Headers, "__init__", "4d53696a5f9f6670", _filled),
    (http.Headers, "get_all", "367b3317bc2ba45c", _values),
    (http.Headers, "get", Mapping.get, _get),
    (http.Headers, "__contains__", Mapping.__contains__, _holds),
    (Connection, "__eq__", "04776846f3cf761c", _same),
    (commands.StartHook, "__new__", "722d742f24074dc2", staticmethod(_made)),
    (Layer, "handle_event", "fd88b0fb09ceddbb", routing.handle_event),
    (TunnelLayer, "event_to_child", "119a33642637d420", routing.event_through),
    (HttpLayer, "event_to_child", "1095f6e1581d1780", routing.event_to_child),
    (context.Context, "fork", "cad9374a0689f10a", _fork),
)
