"""A receiver of webhooks: an upstream of its own, and the signature check as a receiver writes it.

Written from the Standard Webhooks specification, not from the code that it checks.
"""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.live import LiveProxy, live_proxy

if TYPE_CHECKING:
    from support.certs import Certs
    from support.exchange import Exchange, Record
    from support.home import Toml
    from support.upstream import Upstream

KEY = bytes(range(32))
TOLERANCE_SECONDS = 300


def opened(record: Record) -> dict[str, Any]:
    """Return the event of a delivery whose signature holds; raises AssertionError."""
    named = [record.header(f"webhook-{each}") for each in ("id", "timestamp", "signature")]
    assert all(named)
    id_, timestamp, signature = (each or b"" for each in named)
    version, _, value = signature.partition(b",")
    assert version == b"v1"
    content = b".".join((id_, timestamp, record.body))
    assert hmac.compare_digest(base64.b64decode(value), hmac.new(KEY, content, "sha256").digest())
    assert abs(time.time() - int(timestamp)) < TOLERANCE_SECONDS
    assert record.header("content-type") == b"application/cloudevents+json"
    event: dict[str, Any] = json.loads(record.body)
    assert event["specversion"] == "1.0"
    assert event["id"].encode() == id_
    return event


def answering(*statuses: int) -> Callable[[Exchange], None]:
    """Return a route that answers one status after the other, then 200."""
    left = list(statuses)

    def answer(exchange: Exchange) -> None:
        exchange.reply(left.pop(0) if left else 200, b"whatever")

    return answer


@contextmanager
def telling(
    folder: Path,
    certs: Certs,
    up: Upstream,
    ops: Upstream,
    *on: str,
    allow: bool = True,
    path: str = "/hook",
    **tables: Mapping[str, Toml],
) -> Iterator[LiveProxy]:
    """Run a proxy with one webhook, `audit`, that leads to the receiver `ops`."""
    secret = folder / "hook.secret"
    secret.write_bytes(b"whsec_" + base64.b64encode(KEY) + b"\n")
    secret.chmod(0o600)
    audit: dict[str, Toml] = {
        "url": f"{ops.url}{path}",
        "on": list(on),
        "secret": f"file:{secret}",
    }
    private = [up.authority, *([ops.authority] if allow else [])]
    with live_proxy(
        folder,
        certs,
        up,
        proxy={"allow_private": private},
        webhooks={"audit": audit},
        **tables,
    ) as live:
        yield live
