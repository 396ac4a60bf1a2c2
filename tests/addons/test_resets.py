"""A client that resets what it opens is left before it keeps everybody waiting; one that cancels is not."""

from __future__ import annotations

import contextlib

import pytest
from hpack import Encoder
from hyperframe.frame import HeadersFrame, RstStreamFrame, SettingsFrame

from ghost_addons.resets import RESETS, too_many
from support.agent import secure_connect
from support.agent2 import Http2Client
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream
from support.wire2 import PREFACE

CANCEL = 8
STREAMS = 1000


def opened_and_reset(encoder: Encoder, number: int, authority: str) -> bytes:
    """Return the frames of a request that a scope allows and nobody waits for."""
    pseudo = {
        ":method": "POST",
        ":scheme": "https",
        ":authority": authority,
        ":path": "/status/204",
    }
    head = HeadersFrame(number, encoder.encode(list(pseudo.items())))
    head.flags.add("END_HEADERS")
    head.flags.add("END_STREAM")
    return head.serialize() + RstStreamFrame(number, error_code=CANCEL).serialize()


def test_many_requests_that_are_reset_in_one_breath_are_not_judged(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    encoder = Encoder()
    parts = [opened_and_reset(encoder, 2 * each + 1, up.authority) for each in range(STREAMS)]
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        tunnel.send(PREFACE + SettingsFrame(0).serialize() + b"".join(parts))
        with contextlib.suppress(OSError):
            while tunnel.sock.recv(65_536):
                pass
    intents = [each for each in proxy.entries(session) if each.type == "action.intent"]
    assert len(intents) <= RESETS + 1


def test_a_client_that_cancels_goes_on(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(
        proxy.port, up.authority, session.auth, ca=proxy.ca, alpn=("h2",)
    ) as tunnel:
        client = Http2Client(tunnel)
        for _ in range(20):
            client.state.reset_stream(client.begin("GET", "/status/204", up.authority), CANCEL)
            client.flush()
        assert client.request("GET", "/status/204", up.authority).status == 204


@pytest.mark.parametrize(
    ("count", "opened", "many"),
    [(RESETS, RESETS, False), (RESETS + 1, RESETS + 1, True), (300, 600, False), (301, 600, True)],
)
def test_more_than_half_is_too_many(count: int, opened: int, many: bool) -> None:
    assert too_many(count, opened=opened) is many
