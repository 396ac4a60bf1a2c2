"""Which schema a reply must satisfy."""

from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError
from ghost_hooks.replies import NO_REPLIES, Replies

NAME = "tools.t.actions.a"


@pytest.mark.parametrize(
    ("status", "schema"),
    [
        (200, "response_schemas.200"),
        (201, "response_schemas.2XX"),
        (202, ""),
        (204, ""),
        (302, ""),
        (404, ""),
    ],
)
def test_the_exact_status_comes_before_the_range(status: int, schema: str) -> None:
    by_status = {"2XX": {"type": "object"}, "200": {"type": "array"}, "202": {}}
    found = Replies.load(NAME, {"type": "string"}, by_status).find(status)
    assert (found.name if found else "") == (f"{NAME}.{schema}" if schema else "")


def test_default_and_then_any_success_hold_for_the_rest() -> None:
    both = Replies.load(NAME, {"type": "string"}, {"default": {"type": "object"}}).find(201)
    one = Replies.load(NAME, {"type": "string"}, {"200": {"type": "object"}}).find(201)
    assert both is not None
    assert one is not None
    assert (both.name, one.name) == (
        f"{NAME}.response_schemas.default",
        f"{NAME}.response_schema",
    )


def test_without_schemas_nothing_is_asked() -> None:
    assert not NO_REPLIES
    assert NO_REPLIES.find(200) is None
    assert Replies.load(NAME, None, {"200": {"type": "object"}})


def test_a_broken_schema_is_told_by_its_status() -> None:
    with pytest.raises(ConfigError) as caught:
        Replies.load(NAME, None, {"200": {"type": 5}})
    assert "response_schemas.200" in caught.value.message
