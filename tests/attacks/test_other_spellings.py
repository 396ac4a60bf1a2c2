"""A field that a schema bounds, under a name that servers take for the same: the upstream hears of none."""

from __future__ import annotations

import json
from pathlib import Path

from support.agent import secure_connect
from support.certs import Certs
from support.live import live_proxy
from support.upstream import Upstream

OVER, OTHER = (403, "schema.mismatch"), (400, "params.spelling")
BODIES = {
    '{"amount": 5000}': OVER,
    '{"Amount": 5000}': OTHER,
    '{"amount": 1, "amount[]": 5000}': OTHER,
    '{"amount": 1, "a_mount": 5000}': OTHER,
}


def test_a_bound_holds_in_other_spellings(tmp_path: Path, certs: Certs) -> None:
    schema = {"properties": {"amount": {"type": "number", "maximum": 100}}}
    pay = {"method": "POST", "path": "/echo", "request_schema": schema}
    found: dict[str, tuple[int, str]] = {}
    with (
        Upstream(certs) as up,
        live_proxy(tmp_path, certs, up, tools={"demo_api": {"actions": {"pay": pay}}}) as live,
    ):
        auth = live.spawn("demo_api").auth
        with secure_connect(live.port, up.authority, auth, ca=live.ca) as tunnel:
            for body in BODIES:
                lines = {"Host": up.authority, "Content-Type": "application/json"}
                answer = tunnel.request("POST", "/echo", lines, body.encode())
                found[body] = answer.status, json.loads(answer.body)["error"]["code"]
        assert up.connections == 0
    assert found == BODIES
