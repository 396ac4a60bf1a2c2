from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ghost_core.settings_fields import FIELDS
from ghost_core.settings_tables import (
    ActionSettings,
    CredentialSettings,
    ToolSettings,
    WebhookSettings,
)
from ghost_core.settings_tighten import Untrusted, lookup, put, tighten


def one(key: str, value: object) -> dict[str, object]:
    tree: dict[str, object] = {}
    put(tree, tuple(key.split(".")), value)
    return tree


COUNTS: list[tuple[str, object]] = [
    ("session.ttl_seconds", 299),
    ("session.max_ttl_seconds", 60),
    ("proxy.record", "all"),
    ("proxy.scrub", "refuse"),
    ("rules", [{"deny": {"host": "*"}}]),
    ("memory.embedding.sweep_seconds", 1),
    ("memory.search.fusion", "rrf"),
    ("memory.search.vector_weight", Decimal("0.5")),
    ("memory.search.rrf_k", 1),
    ("memory.search.decay", "off"),
    ("memory.nudge.mode", "off"),
    ("harness.k", 9),
    ("harness.accept_sources", 9),
    ("harness.semantic", Decimal("0.5")),
    ("harness.harmful_seen", 9),
    ("harness.harmful_rate", Decimal("0.5")),
    ("harness.split", [80, 10, 10]),
    ("harness.cost_weight", Decimal("0.5")),
]

DOES_NOT: list[tuple[str, object]] = [
    ("session.ttl_seconds", 301),
    ("session.max_ttl_seconds", 86401),
    ("hooks.timeout_seconds", 11),
    ("hooks.timeout_seconds", Decimal("0.5")),
    ("hooks.dir", "hooks"),
    ("proxy.scrub", "mark"),
    ("proxy.host", "0.0.0.0"),
    ("proxy.port", 9999),
    ("proxy.workers", 2),
    ("proxy.allow_private", ["10.0.0.1:1"]),
    ("proxy.upstream_ca", "ca.pem"),
    ("proxy.upstream_proxy", "http://evil.example"),
    ("proxy.buffer_limit", 1),
    ("database.url", "sqlite:////tmp/x"),
    ("ledger.payloads", "none"),
    ("ledger.payload_limit", 1),
    ("ledger.witnesses", ["w"]),
    ("memory.embedding.backend", "openai"),
    ("memory.embedding.model", "other"),
    ("memory.embedding.url", "https://evil.example"),
    ("memory.embedding.key", "cmd:id"),
    ("memory.llm.key", "cmd:id"),
    ("harness.worker_model", "x/y"),
    ("upgrade.index", "https://packages.example/simple/"),
    ("harness.reflector_model", "x/y"),
    ("triggers", [{"on": "action.executed", "command": ["id"]}]),
    ("prices.name", "cheap"),
    ("tools.t", {}),
    ("no_such_thing", 1),
]

TABLES: dict[str, type[BaseModel]] = {
    "credentials.a": CredentialSettings,
    "tools.t": ToolSettings,
    "tools.t.actions.a": ActionSettings,
    "webhooks.w": WebhookSettings,
}


@pytest.mark.parametrize(("key", "value"), COUNTS)
def test_what_takes_away_or_harms_nobody_counts(key: str, value: object) -> None:
    assert tighten(one(key, value), {}) == (one(key, value), [])


@pytest.mark.parametrize(("key", "value"), DOES_NOT)
def test_what_loosens_names_programs_or_addresses_does_not_count(key: str, value: object) -> None:
    assert tighten(one(key, value), {}) == ({}, [key])


@pytest.mark.parametrize("key", FIELDS)
def test_every_setting_was_thought_about(key: str) -> None:
    assert key in {name for name, _ in (*COUNTS, *DOES_NOT)}


@pytest.mark.parametrize(
    "key", [f"{table}.{name}" for table, model in TABLES.items() for name in model.model_fields]
)
def test_nothing_of_a_credential_tool_or_webhook_counts(key: str) -> None:
    assert tighten(one(key, "x"), {}) == ({}, [key])


def test_the_homes_value_is_what_may_not_be_loosened() -> None:
    home = one("session.ttl_seconds", 60) | one("proxy.record", "all")
    project = one("session.ttl_seconds", 61) | one("proxy.record", "mutations")
    assert tighten(project, home) == ({}, ["session.ttl_seconds", "proxy.record"])


def test_an_empty_section_says_nothing() -> None:
    assert tighten({"proxy": {}, "memory": {"llm": {}}}, {}) == ({}, [])


def test_a_value_of_the_wrong_kind_is_left_for_the_check() -> None:
    assert tighten(one("proxy.scrub", "no"), {}) == (one("proxy.scrub", "no"), [])


LIMITS = "tools.t.actions.a.limits"


@pytest.mark.parametrize(
    ("name", "value", "known", "counts"),
    [
        ("calls", 1, 2, True),
        ("calls", 3, 2, False),
        ("calls", 3, None, True),
        ("bytes", "1kB", "1MB", True),
        ("bytes", "1GB", 5, False),
        ("bytes", "many", 5, False),
        ("sum", {"field": "f", "max": 1}, {"field": "f", "max": 2}, True),
        ("sum", {"field": "g", "max": 1}, {"field": "f", "max": 2}, False),
        ("sum", {"field": "f", "max": Decimal("2.1")}, {"field": "f", "max": 2}, False),
        ("sum", 1, {"field": "f", "max": 2}, False),
    ],
)
def test_limits_of_a_known_action_may_only_fall(
    name: str, value: object, known: object, *, counts: bool
) -> None:
    home = one("tools.t.actions.a", {"limits": {} if known is None else {name: known}})
    kept, dropped = tighten(one(f"{LIMITS}.{name}", value), home)
    assert (lookup(kept, (*LIMITS.split("."), name)) == value) is counts
    assert bool(dropped) is not counts


def test_limits_of_an_unknown_action_do_not_count() -> None:
    assert tighten(one(f"{LIMITS}.calls", 1), {}) == ({}, [f"{LIMITS}.calls"])


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_a_lifetime_is_never_longer_than_the_homes(project: int, home: int) -> None:
    kept, _ = tighten(one("session.ttl_seconds", project), one("session.ttl_seconds", home))
    found = lookup(kept, ("session", "ttl_seconds"))
    assert found is None or (found == project and project <= home)


def test_a_value_in_the_place_of_a_table_is_not_overwritten() -> None:
    tree: dict[str, object] = {"a": 1}
    put(tree, ("a", "b"), 2)
    assert tree == {"a": 1}


def test_rules_are_kept_and_marked_as_those_of_nobody() -> None:
    kept, dropped = tighten({"rules": [{"deny": {"host": "*"}}, "odd"]}, {})
    assert (kept, dropped) == ({"rules": [{"deny": {"host": "*"}}, "odd"]}, [])
    rules = kept["rules"]
    assert isinstance(rules, list)
    assert [type(each) for each in rules] == [Untrusted, str]
