"""Names of fields that are long or odd: they keep nobody waiting but the call that sent them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from support import fixtures
from support.agent import secure_connect
from support.certs import Certs
from support.live import LiveProxy, live_proxy
from support.upstream import Upstream

RULE = '[[rules]]\ndeny = { host = "localhost", when = "amount > 10" }'
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
MANY = 6_000_000
MARKS = "a" + "\u0301" * 16_000 + "\u0316" * 16_000  # normalizing sorts them, two by two
WORST_SECONDS = 1.0

up = fixtures.upstream("module", names=("localhost", "127.0.0.1"))


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    with live_proxy(tmp_path, certs, up) as proxy:
        proxy.home.append(RULE)
        yield proxy


@pytest.mark.parametrize(
    ("kind", "query", "body"),
    [
        (JSON, "", f'{{"{MARKS}":1,"amount":1}}'),
        (FORM, "", f"{quote(MARKS)}=1&amount=1"),
        (FORM, f"?{quote(MARKS)}=1", "amount=1"),
        (FORM, "", f"a{'[]' * MANY}=1&amount=1"),
    ],
    ids=["json", "form", "query", "steps"],
)
def test_a_name_keeps_nobody_else_waiting(
    kind: str, query: str, body: str, live: LiveProxy, up: Upstream
) -> None:
    session = live.spawn("demo_api")
    lines = {"Host": up.authority, "Content-Type": kind}
    with (
        secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel,
        live.waits() as waits,
    ):
        answer = tunnel.request("POST", f"/status/200{query}", lines, body.encode())
    assert answer.status == (400 if len(body) > MANY else 200)
    assert max(waits) < WORST_SECONDS
