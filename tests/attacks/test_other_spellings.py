"""A field that a schema bounds, under a name that servers take for the same: the upstream hears of none."""

from __future__ import annotations

import json
from pathlib import Path

from support.agent import secure_connect
from support.certs import Certs
from support.live import live_proxy
from support.upstream import Upstream

OVER, OTHER = (403, "schema.mismatch"), (400, "params.spelling")
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
SENT = {
    ("", JSON, '{"amount": 5000}'): OVER,
    ("", JSON, '{"Amount": 5000}'): OTHER,
    ("", JSON, '{"amount": 1, "amount[]": 5000}'): OTHER,
    ("", JSON, '{"amount": 1, "a_mount": 5000}'): OTHER,
    ("?amount=5000", JSON, '{"amount": 1}'): OTHER,
    ("?amount%5B%5D=5000", JSON, '{"amount": 1}'): OTHER,
    ("?AMOUNT=5000", JSON, "{}"): OTHER,
    ("?amount=5000", FORM, "amount=1"): OTHER,
    ("?amount=5000", FORM, "other=1"): OVER,
    ("?other=1", FORM, "amount=1&Amount=5000"): OTHER,
}


def test_a_bound_holds_in_other_spellings(tmp_path: Path, certs: Certs) -> None:
    schema = {"properties": {"amount": {"type": "number", "maximum": 100}}}
    pay = {"method": "POST", "path": "/echo", "request_schema": schema}
    post = {**pay, "path": "/status/200", "params": "form"}
    found: dict[tuple[str, str, str], tuple[int, str]] = {}
    with (
        Upstream(certs) as up,
        live_proxy(
            tmp_path, certs, up, tools={"demo_api": {"actions": {"pay": pay, "post": post}}}
        ) as live,
    ):
        auth = live.spawn("demo_api").auth
        with secure_connect(live.port, up.authority, auth, ca=live.ca) as tunnel:
            for query, kind, body in SENT:
                lines = {"Host": up.authority, "Content-Type": kind}
                path = "/echo" if kind == JSON else "/status/200"
                answer = tunnel.request("POST", f"{path}{query}", lines, body.encode())
                code = json.loads(answer.body)["error"]["code"]
                found[(query, kind, body)] = answer.status, code
            assert up.connections == 0
            lines = {"Host": up.authority, "Content-Type": JSON}
            other = tunnel.request("POST", "/echo?other=5000", lines, b'{"amount": 1}')
            assert other.status == 200
    assert found == SENT
