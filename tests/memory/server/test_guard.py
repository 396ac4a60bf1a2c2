"""What reaches `ghost mcp --http` from a browser, a rebound name or a crooked client, over raw sockets."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import anyio
import pytest

from ghost_memory.server.guard import Guard, Receive, Scope, Send
from support.home import ghost_home
from support.mcp import initialize
from support.processes import start

pytestmark = [pytest.mark.timeout(120)]

BODY = json.dumps(initialize(1)).encode()
OURS = "Host: localhost:{port}"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Serve memory on a port for all tests here."""
    with ghost_home(tmp_path_factory.mktemp("guard")) as place:
        running = start(place, "mcp", "--http", "--port", "0")
        line = running.wait_line("Serving memory on", seconds=60)
        try:
            yield int(line.rpartition(":")[2].removesuffix("/mcp"))
        finally:
            running.stop()


def ask(port: int, *heads: str, begin: str = "POST /mcp HTTP/1.1") -> tuple[int, bytes]:
    """Send an `initialize` with these header lines; return status and the whole answer."""
    lines = [
        begin,
        *heads,
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(BODY)}",
        "Connection: close",
    ]
    head = "\r\n".join(lines).replace("{port}", str(port)).replace("{next}", str(port + 1))
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(head.encode("latin-1") + b"\r\n\r\n" + BODY)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    return int(answer.split(b" ", 2)[1]), answer


@pytest.mark.slow
@pytest.mark.parametrize(
    "heads",
    [
        ["Host: 127.0.0.1:{port}"],
        ["Host: localhost:{port}"],
        ["HOST: LocalHost:{port}"],
        [OURS, "Origin: http://localhost:{port}"],
        [OURS, "Origin: http://127.0.0.1:{port}"],
    ],
)
def test_its_own_addresses_are_served(port: int, heads: list[str]) -> None:
    status, answer = ask(port, *heads)
    assert status == 200
    assert b'"serverInfo"' in answer


@pytest.mark.slow
@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:{port}", "localhost:{port}.evil.example",
        "127.0.0.1:{port}.evil.example", "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}",
        "evil.example@localhost:{port}", "localhost:{port}@evil.example", "localhost:{next}", "localhost",
        "localhost:", "localhost:0{port}", "localhost:+{port}", "localhost.:{port}", "127.0.0.1.:{port}",
        "[::1]:{port}", "[::ffff:127.0.0.1]:{port}", "::1:{port}", "127.1:{port}", "2130706433:{port}",
        "0x7f.0.0.1:{port}", "0.0.0.0:{port}", "127.0.0.2:{port}", "localhost:{port},evil.example",
        "localhost:{port} evil.example", "http://localhost:{port}", "localhos\xe9:{port}", "*",
    ],
)  # fmt: skip
def test_another_name_or_port_is_refused(port: int, host: str) -> None:
    status, answer = ask(port, f"Host: {host}")
    assert status in {400, 421}
    assert b"serverInfo" not in answer


@pytest.mark.slow
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "http://evil.example:{port}", "http://localhost:{next}", "http://localhost",
        "http://localhost:{port}.evil.example", "https://localhost:{port}", "http://localhost.:{port}",
        "http://[::1]:{port}", "http://localhost:{port}/", "http://evil.example@localhost:{port}",
        "null", "", "file://", "localhost:{port}", "http://localhost:{port} http://evil.example",
    ],
)  # fmt: skip
def test_a_page_of_another_origin_is_refused(port: int, origin: str) -> None:
    status, answer = ask(port, OURS, f"Origin: {origin}")
    assert status == 403
    assert b"serverInfo" not in answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heads", "begin"),
    [
        ([], "POST /mcp HTTP/1.1"),
        ([], "POST /mcp HTTP/1.0"),
        (["Host:"], "POST /mcp HTTP/1.1"),
        ([OURS, OURS], "POST /mcp HTTP/1.1"),
        ([OURS, "Host: evil.example"], "POST /mcp HTTP/1.1"),
        (["Host: evil.example", OURS], "POST /mcp HTTP/1.0"),
        ([OURS, "Origin: http://localhost:{port}"] * 2, "POST /mcp HTTP/1.1"),
        (
            [OURS, "Origin: http://localhost:{port}", "Origin: https://evil.example"],
            "POST /mcp HTTP/1.1",
        ),
        (["Host : localhost:{port}"], "POST /mcp HTTP/1.1"),
        ([OURS], "POST http://evil.example/mcp HTTP/1.1"),
        (["Host: evil.example"], "POST http://localhost:{port}/mcp HTTP/1.1"),
        ([OURS, "X-Forwarded-Host: localhost:{port}", "Origin: null"], "POST /mcp HTTP/1.1"),
        ([OURS, "Upgrade: websocket", "Sec-WebSocket-Version: 13"], "GET /mcp HTTP/1.1"),
    ],
    ids=[
        "none", "none-1.0", "empty", "twice", "two", "two-1.0", "twice-both", "two-origins", "space",
        "absolute", "absolute-ours", "forwarded", "websocket",
    ],
)  # fmt: skip
def test_what_is_missing_doubled_or_crooked_is_refused(
    port: int, heads: list[str], begin: str
) -> None:
    status, answer = ask(port, *heads, begin=begin)
    assert 400 <= status < 500
    assert b"serverInfo" not in answer


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["GET /mcp HTTP/1.1", "DELETE /mcp HTTP/1.1", "GET / HTTP/1.1"])
def test_every_method_and_path_is_guarded(port: int, begin: str) -> None:
    assert ask(port, "Host: evil.example", begin=begin)[0] == 421
    assert ask(port, OURS, "Origin: https://evil.example", begin=begin)[0] == 403


async def inner(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Stand for what is guarded."""
    await send({"type": "reached"})


async def nothing() -> Scope:
    """Receive nothing."""
    return {}


def passed(kind: str, host: str, port: int) -> bool:
    """Tell whether a message of a kind gets through a guard."""
    sent: list[Scope] = []

    async def send(message: Scope) -> None:
        sent.append(message)

    scope = {"type": kind, "headers": [(b"host", host.encode())]}
    anyio.run(Guard(inner, port), scope, nothing, send)
    return sent[0]["type"] == "reached"


def test_the_port_of_the_web_may_be_left_out() -> None:
    assert passed("http", "localhost", 80)
    assert passed("http", "localhost:80", 80)
    assert not passed("http", "localhost", 8080)


def test_start_and_end_pass_and_sockets_of_the_web_do_not() -> None:
    assert passed("lifespan", "", 80)
    assert not passed("websocket", "evil.example", 80)
