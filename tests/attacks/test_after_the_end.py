"""After the end of a session nothing of it goes on, whatever else its connection still carries."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import h2.config
import h2.connection
import h2.events

from support.agent import Tunnel, secure_connect
from support.certs import Certs
from support.exchange import WAIT_SECONDS, Exchange
from support.live import live_proxy
from support.upstream import Upstream

GRACE_SECONDS = 3.0


def asked(tunnel: Tunnel, up: Upstream, *paths: str) -> h2.connection.H2Connection:
    """Ask for paths at once, each in a stream of its own."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    connection.initiate_connection()
    for number, path in enumerate(paths):
        head = [
            (":method", "GET"),
            (":scheme", "https"),
            (":authority", up.authority),
            (":path", path),
        ]
        connection.send_headers(1 + 2 * number, head, end_stream=True)
    tunnel.send(connection.data_to_send())
    return connection


def last_data(
    tunnel: Tunnel, connection: h2.connection.H2Connection, gone: threading.Event
) -> float:
    """Read to the end; return how long after the session's end the last data came, seconds."""
    last, since = 0.0, 0.0
    tunnel.sock.settimeout(GRACE_SECONDS + WAIT_SECONDS)
    while data := tunnel.sock.recv(65_536):
        since = since or (time.monotonic() if gone.is_set() else 0.0)
        events = connection.receive_data(data)
        if since and any(isinstance(each, h2.events.DataReceived) for each in events):
            last = time.monotonic() - since
    return last


def test_a_stream_ends_though_its_connection_has_a_held_call(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    over = threading.Event()

    def held(exchange: Exchange) -> None:
        over.wait(WAIT_SECONDS)
        exchange.reply(200)

    def feed(exchange: Exchange) -> None:
        exchange.start(200, [("Content-Type", "text/event-stream")])
        while not over.wait(0.05):
            exchange.send(b"data: more\n\n")
        exchange.finish()

    up.route("/held", held)
    up.route("/feed", feed)
    with live_proxy(tmp_path, certs, up) as live:
        session = live.spawn("demo_api")
        with secure_connect(
            live.port, up.authority, session.auth, ca=live.ca, alpn=("h2",)
        ) as tunnel:
            connection = asked(tunnel, up, "/held", "/feed")
            up.wait_requests(2)
            gone = threading.Event()

            def end() -> None:
                gone.set()
                live.evaporate(session, grace_seconds=GRACE_SECONDS)

            ending = threading.Thread(target=end)
            ending.start()
            try:
                assert last_data(tunnel, connection, gone) < GRACE_SECONDS / 2
            finally:
                over.set()
                ending.join()
        assert live.types(session)[-1] == "session.seal"
