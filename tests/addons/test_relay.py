"""What every streamed body passes through: no empty piece, and nothing at all after an error."""

from __future__ import annotations

from collections.abc import Callable

from ghost_addons import relay
from ghost_addons.action import Action
from ghost_core.errors import DeniedError


def test_pieces_pass_as_they_are_made_and_none_is_empty(action_of: Callable[..., Action]) -> None:
    errors: list[Exception] = []
    passes = relay.closing(action_of().session, bytes.upper, on_error=errors.append)
    assert [passes(each) for each in (b"a", b"", b"b", b"")] == [[b"A"], [], [b"B"], []]
    assert errors == []


def test_after_an_error_nothing_passes_and_it_is_told_once(
    action_of: Callable[..., Action],
) -> None:
    def fails(chunk: bytes) -> bytes:
        if chunk == b"bad":
            raise RuntimeError("of any kind")
        return chunk

    errors: list[Exception] = []
    passes = relay.closing(action_of().session, fails, on_error=errors.append)
    assert [passes(each) for each in (b"a", b"bad", b"b", b"bad", b"")] == [[b"a"], [], [], [], []]
    assert [str(each) for each in errors] == ["of any kind"]


def test_nothing_passes_for_a_session_in_quarantine(action_of: Callable[..., Action]) -> None:
    action, errors = action_of(), list[Exception]()
    passes = relay.closing(action.session, bytes.upper, on_error=errors.append)
    action.session.quarantined = action.session.sid
    assert passes(b"a") == []
    assert isinstance(errors[0], DeniedError)
