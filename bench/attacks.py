"""What an agent tries: each attack runs against one peer and says what came of it."""

from __future__ import annotations

import base64
import contextlib
import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.agent import Auth, Tunnel, secure_connect
from support.exchange import Exchange
from support.home import PLACEHOLDER, SECRET
from support.upstream import Upstream

HELD = f"{PLACEHOLDER}PLACEHOLDER0000"
SPELLINGS = (
    "/public/../admin", "/public/%2e%2e/admin", "/public/..%2fadmin", "/public/%252e%252e/admin",
    "/public/..\\admin", "/public/..;/admin", "/public//../admin",
)  # fmt: skip
HEAD = "Host: UP\r\nAuthorization: Bearer HELD\r\n"
AMBIGUOUS = (
    "X-A: 1\r\n b: 2\r\n",
    "Content-Length: 0\r\nContent-Length: 5\r\n",
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
)


@dataclass(frozen=True, slots=True)
class Target:
    """A running peer, and the two upstreams: the one its secret is for, and another."""

    name: str
    port: int
    ca: Path
    auth: Auth
    up: Upstream
    other: Upstream

    def tunnel(self, authority: str = "") -> Tunnel:
        """Open a tunnel; raises AssertionError or OSError where the peer refuses one."""
        found = secure_connect(self.port, authority or self.up.authority, self.auth, ca=self.ca)
        found.sock.settimeout(3)
        return found

    def ask(self, head: str, *, authority: str = "") -> bytes:
        """Send one request as it is written and return what came back before the end or 3 s."""
        with contextlib.suppress(OSError, EOFError, AssertionError), self.tunnel(authority) as way:
            way.send(self.filled(head))
            return collected(way)
        return b""

    def filled(self, head: str) -> bytes:
        """Put placeholder and authority into the text of a request."""
        return head.replace("HELD", HELD).replace("UP", self.up.authority).encode()

    def leaked(self) -> int:
        """Return how many requests with the secret the two upstreams have seen."""
        seen = (*self.up.requests, *self.other.requests)
        return sum(SECRET.encode() in b"".join(v for _, v in each.headers) for each in seen)


def collected(tunnel: Tunnel) -> bytes:
    """Return one answer, head and body, as bytes."""
    with contextlib.suppress(TimeoutError, OSError, EOFError):
        answer = tunnel.answer()
        return answer.head + answer.body
    return b""


def paths(target: Target) -> str:
    """Count the spellings of /admin below /public that went out with the secret."""
    before = target.leaked()
    for path in SPELLINGS:
        target.ask(f"GET {path} HTTP/1.1\r\n{HEAD}\r\n")
    return f"secret sent for {target.leaked() - before} of {len(SPELLINGS)}"


def echoes(target: Target) -> str:
    """Count the forms in which an upstream handed the secret back to the agent."""
    forms: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
        ("plain", lambda secret: secret),
        ("base64", base64.b64encode),
        ("hex", lambda secret: secret.hex().encode()),
        ("gzip", gzip.compress),
    )
    got = []
    for name, form in forms:
        target.up.route("/public/echo", _echo(form, coding=name == "gzip"))
        answer = target.ask(f"GET /public/echo HTTP/1.1\r\n{HEAD}\r\n")
        body = answer.partition(b"\r\n\r\n")[2]
        with contextlib.suppress(OSError, EOFError):
            body = gzip.decompress(body) if name == "gzip" else body
        if form(SECRET.encode()) in body or SECRET.encode() in body:
            got.append(name)
        elif SECRET.encode() in answer:
            got.append(f"{name} (header)")
    return "agent got: " + (", ".join(got) or "none")


def _echo(form: Callable[[bytes], bytes], *, coding: bool) -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        held = (exchange.record.header("authorization") or b"").removeprefix(b"Bearer ")
        headers = [("Content-Encoding", "gzip")] if coding else []
        exchange.reply(200, form(held), headers)

    return answer


def names(target: Target) -> str:
    """Count the requests with two names for one host that went out with the secret."""
    before = target.leaked()
    evil = f"GET /public/x HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {HELD}\r\n\r\n"
    twice = f"GET /public/x HTTP/1.1\r\nHost: evil.example\r\n{HEAD}\r\n"
    for head in (evil, twice):
        target.ask(head)
    own = f"GET /public/x HTTP/1.1\r\n{HEAD}\r\n"  # the right name, in a tunnel to somebody else
    target.ask(own, authority=target.other.authority.replace("localhost", "127.0.0.1"))
    return f"secret sent for {target.leaked() - before} of 3"


def elsewhere(target: Target) -> str:
    """Say what became of a placeholder on its way to a host that has nothing to do with it."""
    before, secrets = len(target.other.requests), target.leaked()
    host = target.other.authority.replace("localhost", "127.0.0.1")
    lines = f"Host: {host}\r\nAuthorization: Bearer {HELD}\r\n"
    target.ask(f"GET /public/x HTTP/1.1\r\n{lines}\r\n", authority=host)
    if target.leaked() > secrets:
        return "secret sent"
    return "forwarded" if len(target.other.requests) > before else "refused"


def override(target: Target) -> str:
    """Say whether a read that asks for another method in a header goes on."""
    before = len(target.up.requests)
    target.ask(f"GET /public/x HTTP/1.1\r\n{HEAD}X-HTTP-Method-Override: DELETE\r\n\r\n")
    new = target.up.requests[before:]
    kept = any(each.header("x-http-method-override") for each in new)
    return "forwarded" if kept else "refused or stripped"


def folded(target: Target) -> str:
    """Count the heads with two readings that went on: a fold, two lengths, a length beside chunks."""
    before = len(target.up.requests)
    for line in AMBIGUOUS:
        target.ask(f"GET /public/x HTTP/1.1\r\n{HEAD}{line}\r\n")
    return f"forwarded {len(target.up.requests) - before} of 3"


def stream(target: Target) -> str:
    """Measure how long after the upstream the first of five events, 100 ms apart, arrives."""
    target.up.route("/public/sse", _events)
    with target.tunnel() as way:
        started = time.monotonic()
        way.send(target.filled(f"GET /public/sse HTTP/1.1\r\n{HEAD}\r\n"))
        next(way.chunks(way.head()))
        first = time.monotonic()
    return f"{(first - started) * 1000:.0f} ms"


def _events(exchange: Exchange) -> None:
    exchange.start(200, [("Content-Type", "text/event-stream")])
    for number in range(5):
        exchange.emit(b"data: %d\n\n" % number)
        exchange.pause(0.1)
    exchange.finish()


ATTACKS: tuple[tuple[str, Callable[[Target], str]], ...] = (
    ("`/admin` spelled in seven ways below `/public`", paths),
    ("upstream echoes the secret in four forms", echoes),
    ("foreign `Host`; two `Host` lines; own `Host` in a tunnel to another", names),
    ("placeholder sent to another host", elsewhere),
    ("method override in a header", override),
    ("fold, two lengths, length beside chunks", folded),
    ("first of five events, 100 ms apart", stream),
)
