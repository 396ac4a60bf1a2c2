"""`act`: prepared from the catalogue, sent through the proxy's own door, repeated only where safe."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from ghost_addons import acting
from ghost_core.errors import UsageError
from support.certs import Certs
from support.exchange import Exchange
from support.home import SECRET
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

ACTIONS = {
    "write": {"method": "POST", "path": "/echo"},
    "read": {"method": "GET", "path": "/status/{code}"},
    "put": {"method": "PUT", "path": "/flaky"},
}


@pytest.fixture
def tools(tmp_path: Path, certs: Certs, up: Upstream):  # type: ignore[no-untyped-def]
    """A proxy whose tool has named actions."""
    with live_proxy(tmp_path, certs, up, tools={"demo_api": {"actions": ACTIONS}}) as live:
        yield live


def act(live: LiveProxy, session: LiveSession, action: str, **more: object) -> dict[str, Any]:
    """Ask the owner for one call, as the control socket does."""
    request = {"tool": "demo_api", "action": action, **more}

    async def work() -> dict[str, object]:
        return await live.proxy.act(live.proxy.admit(session.sid), request)

    return live.do(work())


def test_an_executed_call_is_told_with_its_residue(tools: LiveProxy, up: Upstream) -> None:
    session = tools.spawn("demo_api:write")
    document = act(tools, session, "write", params={"a": 1})
    assert document["status"] == "executed"
    assert document["response"]["body"] == '{"a":1}'
    intent, outcome = tools.entries(session)[1:3]
    assert document["action_id"] == intent.id == outcome.id
    assert (intent.fields["tool"], intent.fields["action"]) == ("demo_api", "write")
    stored = tools.proxy.services.ledger.entries(session.sid)[2]
    assert document["residue_hash"] == "sha256_" + stored.leaf_hash.hex()
    assert up.requests[0].header("authorization") == f"Bearer {SECRET}".encode()
    assert acting.status_of(document) == 0


def test_a_call_outside_the_scope_is_denied_with_its_entry(tools: LiveProxy, up: Upstream) -> None:
    session = tools.spawn("demo_api:read")
    document = act(tools, session, "write", params={})
    assert document["status"] == "denied"
    assert document["error"]["code"] == "scope.action"
    assert document["residue_hash"].startswith("sha256_")
    assert tools.last(session).id == document["action_id"]
    assert acting.status_of(document) == 5
    assert up.requests == ()


def test_a_call_to_a_private_address_is_told_how_a_human_allows_it(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    place = {"base_url": "https://10.0.0.1:8443", "actions": ACTIONS}
    with live_proxy(tmp_path, certs, up, tools={"demo_api": place}) as live:
        error = act(live, live.spawn("demo_api"), "write", params={})["error"]
    assert error["code"] == "target.address"
    assert error["hint"].endswith('proxy.allow_private = ["10.0.0.1:8443"]')


def test_a_read_by_act_has_an_entry_of_its_own(tools: LiveProxy) -> None:
    session = tools.spawn("demo_api")
    document = act(tools, session, "read", params={"code": 404})
    assert document["http_status"] == 404
    assert document["status"] == "executed"
    assert tools.types(session)[1:] == ["action.intent", "action.outcome"]


def test_a_repeatable_call_is_tried_again_and_each_try_is_an_entry(
    tools: LiveProxy, up: Upstream
) -> None:
    tries: list[int] = []

    def flaky(exchange: Exchange) -> None:
        tries.append(1)
        if len(tries) < 3:
            exchange.reply(503, b"busy", [("Retry-After", "0")])
        else:
            exchange.reply(200, b'{"ok":true}')

    up.route("/flaky", flaky)
    session = tools.spawn("demo_api")
    document = act(tools, session, "put", params={}, attempts=3)
    assert document["response"] == {"ok": True}
    assert document["attempts"] == 3
    intents = [each for each in tools.entries(session) if each.type == "action.intent"]
    assert [each.fields["attempt"] for each in intents] == [1, 2, 3]
    assert len({each.fields["operation"] for each in intents}) == 1


def test_a_wait_that_outlasts_the_session_is_not_begun(tools: LiveProxy, up: Upstream) -> None:
    up.route("/flaky", lambda exchange: exchange.reply(503, b"busy", [("Retry-After", "30")]))
    session = tools.spawn("demo_api", ttl_seconds=20)
    document = act(tools, session, "put", params={}, attempts=3)
    assert (document["attempts"], document["http_status"]) == (1, 503)
    assert len(up.requests) == 1


def test_a_post_is_never_repeated(tools: LiveProxy, up: Upstream) -> None:
    up.route("/echo", lambda exchange: exchange.reply(503, b"busy", [("Retry-After", "0")]))
    session = tools.spawn("demo_api")
    document = act(tools, session, "write", params={}, attempts=3)
    assert document["http_status"] == 503
    assert len(up.requests) == 1


def test_an_unreachable_upstream_is_a_failed_call(tools: LiveProxy, up: Upstream) -> None:
    up.route("/echo", lambda exchange: exchange.abort())
    session = tools.spawn("demo_api")
    document = act(tools, session, "write", params={}, attempts=1)
    assert document["status"] == "failed"
    assert acting.status_of(document) == 1


def test_an_extra_hook_decides_and_a_changed_one_refuses(
    tools: LiveProxy, up: Upstream, tmp_path: Path
) -> None:
    hook = tmp_path / "check.sh"
    hook.write_text("#!/bin/sh\ncat >/dev/null\nexit 0\n")
    hook.chmod(0o700)
    digest = hashlib.sha256(hook.read_bytes()).hexdigest()
    session = tools.spawn("demo_api")
    named = [[str(hook), digest]]
    assert act(tools, session, "write", params={}, validate_pre=named)["status"] == "executed"
    hook.write_text("#!/bin/sh\nexit 0\n# changed\n")
    assert act(tools, session, "write", params={}, validate_pre=named)["status"] == "denied"
    assert len(up.requests) == 1


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"tool": "nobody", "action": "x"}, "tool.unknown"),
        ({"tool": "demo_api", "action": "nothing"}, "tool.unknown"),
        ({"tool": "demo_api", "action": "write", "params": [1]}, "act.params"),
        ({"tool": "demo_api", "action": "write", "attempts": 99}, "act.attempts"),
        ({"tool": "demo_api", "action": "read", "params": {}}, "act.missing"),
    ],
)
def test_a_wrong_request_is_told_before_anything_is_sent(
    request_: dict[str, object], code: str, tools: LiveProxy, up: Upstream
) -> None:
    session = tools.spawn("demo_api")

    async def work() -> dict[str, object]:
        return await tools.proxy.act(tools.proxy.admit(session.sid), request_)

    with pytest.raises(UsageError) as caught:
        tools.do(work())
    assert caught.value.code == code
    assert up.requests == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", None),
        (b"[1,2]", [1, 2]),
        (b"plain", {"text": "plain"}),
        (b"\xff\xfe", {"base64": "//4=", "content_type": "image/x"}),
        (b"x" * 1_000_001, {"truncated": True, "bytes": 1_000_001}),
    ],
)
def test_any_reply_has_a_form_in_json(
    body: bytes, expected: object, tools: LiveProxy, up: Upstream
) -> None:
    up.route("/echo", lambda each: each.reply(200, body, [("Content-Type", "image/x")]))
    session = tools.spawn("demo_api")
    assert act(tools, session, "write", params={})["response"] == expected


def test_an_answer_that_breaks_off_is_none(tools: LiveProxy, up: Upstream) -> None:
    def broken(exchange: Exchange) -> None:
        exchange.start(200, length=2_000_000)
        exchange.send(b"x")
        exchange.abort()

    up.route("/echo", broken)
    document = act(tools, tools.spawn("demo_api"), "write", params={}, attempts=1)
    assert document["response"] is None
    assert "http_status" not in document
