"""curl, with nothing but the environment block."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from support.agent import program
from support.client import Client
from support.exchange import Exchange

pytestmark = pytest.mark.proxy

POST = ("-X", "POST", "-d", '{"amount": 1}', "-H", "Content-Type: application/json")


def curl(client: Client, *words: str) -> bytes:
    return client.run("curl", "-sS", "--fail", "-H", client.bearer, *words).stdout


@pytest.mark.parametrize(("flag", "version"), [("--http1.1", b"1.1"), ("--http2", b"2")])
def test_a_call_over_either_http_has_the_secret_at_the_upstream_and_is_entered(
    client: Client, flag: str, version: bytes
) -> None:
    url = f"{client.up.url}/status/201"
    assert curl(
        client, flag, *POST, "-o", os.devnull, "-w", "%{http_version} %{http_code}", url
    ) == (version + b" 201")
    (seen,) = client.seen()
    assert seen.body == b'{"amount": 1}'
    client.entered()


def test_a_proxy_that_is_asked_how_to_authenticate_gets_a_second_connection(
    client: Client,
) -> None:
    curl(client, "--proxy-anyauth", *POST, f"{client.up.url}/echo")
    client.seen()
    client.entered()


def test_many_calls_on_one_connection_are_each_entered(client: Client) -> None:
    urls = [f"{client.up.url}/status/20{number}" for number in (0, 1, 2)]
    curl(client, *POST, *urls)
    assert [each.path[-3:] for each in client.seen(3)] == ["200", "201", "202"]
    client.entered(3)


def test_an_upload_arrives_whole(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "upload.bin"
    file.write_bytes(os.urandom(3_000_000))
    curl(client, "-T", str(file), "-o", os.devnull, f"{client.up.url}/echo")
    (seen,) = client.seen()
    assert (seen.method, seen.body == file.read_bytes()) == (b"PUT", True)
    client.entered()


def test_an_upload_of_unknown_length_arrives_whole(client: Client) -> None:
    sent = os.urandom(300_000)
    done = client.run(
        "curl", "-sS", "--fail", "-H", client.bearer, "-T", "-", f"{client.up.url}/status/200",
        stdin=sent,
    )  # fmt: skip
    assert done.returncode == 0
    (seen,) = client.seen()
    assert seen.body == sent
    client.entered()


def test_an_event_arrives_before_the_next_one_is_sent(client: Client) -> None:
    arrived = threading.Event()

    def events(exchange: Exchange) -> None:
        exchange.start(200, [("Content-Type", "text/event-stream")])
        exchange.emit(b"data: first\n\n")
        exchange.emit(b"data: second\n\n" if arrived.wait(5) else b"data: too late\n\n")
        exchange.finish()

    client.up.route("/curl-events", events)
    with subprocess.Popen(
        [program("curl"), "-sSN", "-H", client.bearer, *POST, f"{client.up.url}/curl-events"],
        env={"PATH": os.environ["PATH"], **client.env},
        stdout=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"data: first\n"
        arrived.set()
        assert running.stdout.read() == b"\ndata: second\n\n"
    client.seen()
    client.entered()


def test_a_read_reaches_the_upstream_with_the_secret(client: Client) -> None:
    curl(client, f"{client.up.url}/echo")
    client.seen()


def test_a_host_out_of_scope_is_refused_with_the_reason(client: Client) -> None:
    done = subprocess.run(
        [program("curl"), "-sS", *POST, "https://api.example.com/v1"],
        env={"PATH": os.environ["PATH"], **client.env},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b'"code": "scope.' in done.stdout or b'"code":"scope.' in done.stdout, done
    client.seen(0)


@pytest.mark.parametrize("flag", ["--http1.1", "--http2"])
def test_a_body_that_reads_like_a_request_stays_a_body(client: Client, flag: str) -> None:
    hidden = b"POST /status/418 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    client.run(
        "curl", "-sS", "--fail", flag, "-H", client.bearer, "-T", "-", f"{client.up.url}/status/200",
        stdin=hidden,
    )  # fmt: skip
    curl(client, flag, *POST, f"{client.up.url}/echo")
    first, second = client.seen(2)
    assert (first.body, second.path) == (hidden, "/echo")
    client.entered(2)
