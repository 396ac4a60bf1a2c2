"""Whose process is at the other end of a loopback connection."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_addons import uid
from support.agent import raw_connect
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

CLIENT = r"""
import encodings.idna, os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as client:
    client.sendall(b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n\r\n" % ((sys.argv[2].encode(),) * 2))
    sys.stdout.write(client.recv(4096).decode("latin-1"))
    sys.stdout.flush()
    sys.stdin.read()
"""

root_only = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@pytest.fixture(params=["127.0.0.1", "::1"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a loopback connection of our own."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    try:
        listener = socket.create_server((request.param, 0), family=family)
    except OSError:
        pytest.skip(f"{request.param} does not exist here")
    with listener, socket.create_connection(listener.getsockname()[:2], 5) as client:
        server, _ = listener.accept()
        with server:
            yield client, server


def test_our_own_client_is_recognised(pair: tuple[socket.socket, socket.socket]) -> None:
    client, server = pair
    assert uid.same_user(client.getsockname(), server.getsockname())


def test_the_wrong_end_of_the_connection_does_not_count(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    client, _ = pair
    host, port = client.getsockname()[:2]
    assert not uid.same_user((host, port), (host, 1))


def test_an_ipv4_client_of_a_dual_socket_is_recognised() -> None:
    try:
        listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    except (OSError, ValueError):
        pytest.skip("no dual stack here")
    with listener, socket.create_connection(("127.0.0.1", listener.getsockname()[1]), 5) as client:
        server, name = listener.accept()
        with server, client:
            assert name[0] == "::ffff:127.0.0.1"
            assert uid.same_user(name, server.getsockname())


def test_a_client_from_another_machine_is_nobody() -> None:
    assert not uid.same_user(("192.0.2.1", 4000), ("127.0.0.1", 9999))
    assert not uid.same_user(("fe80::1%eth0", 4000, 0, 2), ("::1", 9999))


def test_where_the_kernel_does_not_tell_loopback_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert uid.same_user(("127.0.0.1", 4000), ("127.0.0.1", 9999))
    assert not uid.same_user(("192.0.2.1", 4000), ("127.0.0.1", 9999))


def test_without_the_kernels_table_nobody_is_ours(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> str:
        raise FileNotFoundError

    client, server = pair
    monkeypatch.setattr(Path, "read_text", gone)
    assert not uid.same_user(client.getsockname(), server.getsockname())


@root_only
def test_another_user_is_not_served_without_credentials(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.proxy.services.sessions.bare = session.sid
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", CLIENT, str(proxy.port), up.authority],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as stranger:
        answer, _ = stranger.communicate("", timeout=5)
    assert answer.startswith("HTTP/1.1 407")
    with raw_connect(proxy.port, up.authority) as ours:
        assert ours.status == 200
