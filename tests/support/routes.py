"""The built-in routes of the upstream."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.exchange import Exchange, Handler

JSON = ("Content-Type", "application/json")
TEXT = ("Content-Type", "text/plain")


def find(path: str) -> Handler:
    """Return the built-in route of a path; an unknown path answers 404."""
    first = path.split("/")[1] if path.startswith("/") else ""
    return ROUTES.get(first, missing)


def missing(exchange: Exchange) -> None:
    """Answer 404."""
    exchange.reply(404, b'{"error":"no such route"}', [JSON])


def echo(exchange: Exchange) -> None:
    """Answer with method, target, headers and body as JSON."""
    record = exchange.record
    seen = {
        "method": record.method.decode("latin-1"),
        "target": record.target.decode("latin-1"),
        "headers": [[k.decode("latin-1"), v.decode("latin-1")] for k, v in record.headers],
        "body": record.body.decode("latin-1"),
    }
    exchange.reply(200, json.dumps(seen).encode(), [JSON])


def status(exchange: Exchange) -> None:
    """Answer /status/N with status N; 204 and 304 have no body."""
    code = int(exchange.record.path.rsplit("/", 1)[1])
    body = b"" if code in {204, 304} else json.dumps({"status": code}).encode()
    exchange.reply(code, body, [JSON])


def sse(exchange: Exchange) -> None:
    """Send n events, gap_ms apart, each flushed and noted."""
    count, gap = int(exchange.record.query("n", "3")), int(exchange.record.query("gap_ms", "50"))
    exchange.start(200, [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache")])
    for number in range(count):
        if number:
            exchange.pause(gap / 1000)
        exchange.emit(b'data: {"i": %d}\n\n' % number)
    exchange.finish()


def known_length(exchange: Exchange) -> None:
    """Answer /bytes/N with N bytes and a Content-Length."""
    size = int(exchange.record.path.rsplit("/", 1)[1])
    exchange.start(200, [("Content-Type", "application/octet-stream")], length=size)
    block = bytes(range(256)) * 256
    for start in range(0, size, len(block)):
        exchange.send(block[: min(len(block), size - start)])
    exchange.finish()


def chunked(exchange: Exchange) -> None:
    """Send n chunks of `size` bytes without a length."""
    count, size = int(exchange.record.query("n", "3")), int(exchange.record.query("size", "5"))
    exchange.start(200, [TEXT])
    for number in range(count):
        exchange.emit(b"%c" % (97 + number % 26) * size)
    exchange.finish()


def echo_header(exchange: Exchange) -> None:
    """Answer with the received value of one header as text."""
    exchange.reply(200, _named(exchange), [TEXT])


def gzip_echo_header(exchange: Exchange) -> None:
    """Answer with the received value of one header in a gzip body."""
    body = gzip.compress(b"you sent: " + _named(exchange), mtime=0)
    exchange.reply(200, body, [TEXT, ("Content-Encoding", "gzip")])


def split_secret(exchange: Exchange) -> None:
    """Send the received Authorization value in two chunks, cut in its middle."""
    value = exchange.record.header("authorization") or b""
    middle = len(value) // 2
    exchange.start(200, [TEXT])
    exchange.emit(b"start " + value[:middle])
    exchange.pause(0.05)
    exchange.emit(value[middle:] + b" end")
    exchange.finish()


def slow(exchange: Exchange) -> None:
    """Answer after `ms` milliseconds."""
    exchange.pause(int(exchange.record.query("ms", "100")) / 1000)
    exchange.reply(200, b'{"slow":true}', [JSON])


def redirect(exchange: Exchange) -> None:
    """Answer 302 to the URL in `to`."""
    exchange.reply(302, b"", [("Location", exchange.record.query("to", "/echo"))])


def close(exchange: Exchange) -> None:
    """Close the connection without an answer."""
    exchange.abort()


def _named(exchange: Exchange) -> bytes:
    return exchange.record.header(exchange.record.query("name", "authorization")) or b""


ROUTES: dict[str, Handler] = {
    "echo": echo,
    "status": status,
    "sse": sse,
    "bytes": known_length,
    "chunked": chunked,
    "echo-header": echo_header,
    "gzip-echo-header": gzip_echo_header,
    "split-secret": split_secret,
    "slow": slow,
    "redirect": redirect,
    "close": close,
}
