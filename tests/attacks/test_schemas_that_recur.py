"""Short bodies that are long to judge, and schemas that name a draft, over the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import fixtures
from support.agent import Answer, secure_connect
from support.certs import Certs
from support.live import LiveProxy, live_proxy
from support.scene import reason_of
from support.upstream import Upstream

up = fixtures.upstream("module", names=("localhost", "127.0.0.1"))
DEPTH = 60
ITSELF = {"$ref": "#"}
SCHEMAS: dict[str, object] = {
    "left": {"anyOf": [{"properties": {"a": ITSELF}}], "unevaluatedProperties": False},
    "both": {
        "oneOf": [{"properties": {"a": ITSELF, "b": {"type": kind}}} for kind in ("string", "null")]
    },
    "if": {"if": {"properties": {"a": ITSELF}}, "then": {"properties": {"a": ITSELF}}},
    "draft": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"amount": {"maximum": 100}, "inside": ITSELF},
    },
    "another-draft": {
        "properties": {
            "amount": {"$schema": "http://json-schema.org/draft-07/schema#", "maximum": 100}
        }
    },
    "list": {"properties": {"list": {"uniqueItems": True}}},
}


@pytest.fixture
def live(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    actions = {name: action(tmp_path, name) for name in SCHEMAS}
    for name in SCHEMAS:
        up.route(f"/for/{name}", lambda each: each.reply(204))
    up.route(
        "/deep", lambda each: each.reply(200, nested(), [("Content-Type", "application/json")])
    )
    actions["reply"] = {
        "method": "GET",
        "path": "/deep",
        "response_schema": str(tmp_path / "both.json"),
    }
    with live_proxy(tmp_path, certs, up, tools={"demo_api": {"actions": actions}}) as proxy:
        yield proxy


def action(folder: Path, name: str) -> dict[str, str]:
    file = folder / f"{name}.json"
    file.write_text(json.dumps(SCHEMAS[name]))
    kind = "form" if "draft" in name else "json"
    place = {"method": "POST", "path": f"/for/{name}", "params": kind}
    return {**place, "request_schema": str(file)}


def nested() -> bytes:
    return b'{"a":' * DEPTH + b"{}" + b"}" * DEPTH


def asked(live: LiveProxy, up: Upstream, name: str, body: bytes, kind: str) -> Answer:
    session = live.spawn("demo_api")
    lines = {"Host": up.authority, "Content-Type": kind}
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", f"/for/{name}", lines, body)


@pytest.mark.parametrize("name", ["left", "both", "if"])
def test_what_doubles_with_each_level_is_refused(name: str, live: LiveProxy, up: Upstream) -> None:
    answer = asked(live, up, name, nested(), "application/json")
    assert (answer.status, reason_of(answer)) == (413, "params.long")
    shallow = asked(live, up, name, b'{"a":{"a":{}}}', "application/json")
    assert shallow.status == (403 if name == "both" else 204)


def test_a_reply_that_is_long_to_judge_is_withheld(live: LiveProxy, up: Upstream) -> None:
    session = live.spawn("demo_api:reply")
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        answer = tunnel.request("GET", "/deep", {"Host": up.authority})
    assert (answer.status, reason_of(answer)) == (502, "params.long")


@pytest.mark.parametrize(
    ("name", "field"),
    [("draft", "amount"), ("draft", "inside[amount]"), ("another-draft", "amount")],
)
def test_a_bound_holds_where_the_schema_names_a_draft(
    name: str, field: str, live: LiveProxy, up: Upstream
) -> None:
    kind = "application/x-www-form-urlencoded"
    answer = asked(live, up, name, f"{field}=5000".encode(), kind)
    assert (answer.status, reason_of(answer)) == (403, "schema.mismatch")
    assert asked(live, up, name, f"{field}=50".encode(), kind).status == 204


def test_a_number_of_many_digits_is_not_read(live: LiveProxy, up: Upstream) -> None:
    body = b'{"list":[1.' + b"1" * 5000 + b",2]}"
    answer = asked(live, up, "list", body, "application/json")
    assert (answer.status, reason_of(answer)) == (400, "params.malformed")
