"""A URL as a hook: it allows only in so many words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghost_hooks.document import Call, document
from ghost_hooks.folder import Hook
from ghost_hooks.posting import Poster
from ghost_hooks.request import Request, Verdict
from ghost_hooks.runner import HookRunner
from ghost_hooks.target import Target
from ghost_hooks.webhook import is_url, labels_of, rule_of, url_hash
from support.certs import Certs
from support.exchange import Exchange
from support.upstream import Upstream

REQUEST = Request("POST", Target("https", "a.example", 443, "/x"), (), b'{"amount":10}')


@pytest.fixture
def ops(certs: Certs) -> Iterator[Upstream]:
    with Upstream(certs) as receiver:
        yield receiver


type Ask = Callable[..., Verdict]


@pytest.fixture
def ask(ops: Upstream, certs: Certs, tmp_path: Path) -> Ask:
    """Return what asks the receiver, as the runner does for any hook."""

    def asked(
        path: str = "/judge", *, expected: str = "", url: str = "", seconds: float = 5.0
    ) -> Verdict:
        poster = Poster((ops.authority,), certs.ca, seconds)
        runner = HookRunner(tmp_path, seconds, poster=poster)
        named = url or f"{ops.url}{path}"
        hook = Hook(Path(), Path(), expected=expected or url_hash(named), url=named)
        handed = document(Call("act_1", "shop", "buy", "json"), {"id": "gh_1"}, REQUEST)
        return asyncio.run(runner.run(hook, handed))

    return asked


def says(body: object, status: int = 200) -> Callable[[Exchange], None]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda exchange: exchange.reply(status, data)


def test_one_that_allows_has_seen_the_document(ops: Upstream, ask: Ask) -> None:
    ops.route("/judge", says({"verdict": "allow", "reason": "fine", "labels": ["seen"]}))
    verdict = ask()
    assert (verdict.allow, verdict.verdict, verdict.reason) == (True, "allow", "fine")
    assert verdict.labels == ("seen",)
    (record,) = ops.requests
    assert json.loads(record.body)["schema"] == "ghost/hook-request/v1"
    assert json.loads(record.body)["request"]["body"] == '{"amount":10}'
    assert record.header("content-type") == b"application/json"


def test_the_entry_has_the_hash_of_the_url_and_only_its_host(ops: Upstream, ask: Ask) -> None:
    ops.route("/judge", says({"verdict": "allow"}))
    found = ask("/judge?key=hunter2").entry()
    assert found["hash"] == url_hash(f"{ops.url}/judge?key=hunter2")
    assert found["rule"] == ops.url
    assert "hunter2" not in str(found)


@pytest.mark.parametrize("outcome", ["deny", "quarantine"])
def test_one_that_refuses_refuses_with_its_reason(ops: Upstream, ask: Ask, outcome: str) -> None:
    ops.route("/judge", says({"verdict": outcome, "reason": "too much"}))
    verdict = ask()
    assert (verdict.allow, verdict.verdict, verdict.reason) == (False, outcome, "too much")
    assert verdict.status == 403


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"verdict": "allow"}, 500),
        ({"verdict": "allow"}, 302),
        ({"verdict": "allow"}, 404),
        ({}, 200),
        ({"verdict": "ALLOW"}, 200),
        ({"verdict": True}, 200),
        ({"verdict": ["allow"]}, 200),
        ([{"verdict": "allow"}], 200),
        (b"", 200),
        (b"allow", 200),
        (b"[" * 60_000, 200),
        (b'{"verdict": "allow"}' + b" " * 70_000, 200),
    ],
)
def test_any_other_answer_refuses(ops: Upstream, ask: Ask, body: object, status: int) -> None:
    ops.route("/judge", says(body, status))
    verdict = ask()
    assert (verdict.allow, verdict.code, verdict.status) == (False, "hook.output", 500)


@pytest.mark.parametrize(
    ("path", "code"), [("/slow?ms=30000", "webhook.timeout"), ("/close", "webhook.unreachable")]
)
def test_no_answer_refuses(ask: Ask, path: str, code: str) -> None:
    verdict = ask(path, seconds=0.5 if "slow" in path else 5.0)
    assert (verdict.allow, verdict.code, verdict.status) == (False, code, 500)


def test_a_url_that_leads_to_a_place_that_nobody_allowed_refuses(ask: Ask) -> None:
    assert ask(url="https://10.0.0.1/judge").code == "target.address"
    assert ask(url="http://ops.example/judge").code == "webhook.plain"


def test_another_url_than_the_one_that_was_named_refuses(ops: Upstream, ask: Ask) -> None:
    assert ask(expected=url_hash("https://other.example/")).code == "hook.unsafe"
    assert ops.connections == 0


def test_a_url_is_told_from_a_file_by_its_scheme() -> None:
    assert is_url("HTTPS://ops.example/x")
    assert not is_url("/https://x")
    assert rule_of("https://user:pass@ops.example/") == "webhook"


def test_labels_are_few_and_short() -> None:
    assert labels_of(["x" * 99] * 99) == ("x" * 64,) * 20
    assert labels_of("label") == ()
