from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_core import errors
from ghost_core.errors import (
    DeniedError,
    FailedError,
    GhostError,
    UsageError,
)
from ghost_ledger.session import messages
from ghost_ledger.session.control import ask
from ghost_ledger.session.messages import LINE_LIMIT_BYTES, Message, describe, revive
from support.control import echo, serving

type Launch = Callable[..., subprocess.Popen[str]]


@pytest.mark.parametrize(
    "kind",
    sorted(GhostError.__subclasses__(), key=lambda kind: kind.__name__),
    ids=lambda kind: kind.__name__,
)
def test_a_refusal_comes_back_as_the_same_error(sid: str, kind: type[GhostError]) -> None:
    async def refuse(_: Message):
        raise kind("no", code="some.code", hint="ghost why")

    with pytest.raises(kind) as caught:
        serving(sid, refuse, lambda: ask(sid, {}, timeout=5))
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.hint, caught.value.message) == (
        "some.code",
        "ghost why",
        "no",
    )


def test_an_unknown_kind_comes_back_by_its_exit_code() -> None:
    described = describe(DeniedError("no", code="x.y")) | {"kind": "NewerError"}
    assert isinstance(revive(described), DeniedError)
    assert isinstance(revive({}), FailedError)
    assert errors.GhostError not in {type(revive({"exit_code": code})) for code in range(9)}


def test_every_kind_of_error_can_be_revived() -> None:
    assert set(messages._KINDS.values()) == {GhostError, *GhostError.__subclasses__()}


def test_a_line_over_the_limit_is_refused_on_both_ends(root: Path, sid: str) -> None:
    with pytest.raises(UsageError) as caught:
        ask(sid, {"x": "y" * LINE_LIMIT_BYTES}, timeout=5)
    assert caught.value.code == "control.too_long"

    async def huge(_: Message):
        return {"x": "y" * LINE_LIMIT_BYTES}

    with pytest.raises(UsageError) as caught:
        serving(sid, huge, lambda: ask(sid, {}, timeout=5))
    assert caught.value.code == "control.too_long"


def test_a_line_of_some_megabytes_goes_through(sid: str) -> None:
    body = "y" * (4 << 20)
    assert serving(sid, echo, lambda: ask(sid, {"body": body}, timeout=5)) == {
        "echo": {"body": body}
    }
