"""A refusal is entered once, without a part of a secret; where it cannot be, the call still does not pass."""

from __future__ import annotations

from typing import NoReturn

import pytest

from support.agent import raw_connect, secure_connect
from support.home import SECRET
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream


class Surprise(Exception):  # noqa: N818
    """Something nobody expected."""


def explode(*_: object, **__: object) -> NoReturn:
    """Fail as an unknown mistake would."""
    raise Surprise(SECRET)


def test_a_refusal_that_fails_itself_still_refuses_on_an_open_connection(
    proxy: LiveProxy, session: LiveSession, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
        monkeypatch.setattr("ghost_addons.judging.judge", explode)
        monkeypatch.setattr("ghost_addons.refusals.Refusals.enter", explode)
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert (answer.status, b"guard.unrecorded" in answer.body) == (503, True)
    assert len(up.requests) == 1


def test_of_a_secret_in_a_refused_name_no_part_is_entered(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    host = ".".join(["a" * 63] * 3) + "." + "a" * 35 + "." + SECRET  # longer than a name may be
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200
        assert tunnel.request("x" * 20 + SECRET, "/", {"Host": up.authority}).status == 400
    with raw_connect(proxy.port, f"{host}:8443", session.auth) as tunnel:
        assert tunnel.status == 400
    denied = [each for each in proxy.entries(session) if each.type == "action.denied"]
    assert [each.fields["error"] for each in denied] == ["request.malformed", "target.host"]
    assert SECRET[:8].lower() not in str([each.fields for each in denied]).lower()


@pytest.mark.parametrize(
    "step", ["guard.Guard._attempt", "leak.clean_refusal", "leak.clean_attempt", "guesses.answered"]
)
def test_whatever_fails_while_a_refusal_is_entered_the_call_is_refused(
    step: str,
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"ghost_addons.{step}", explode)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        monkeypatch.setattr("ghost_addons.judging.judge", explode)
        answer = tunnel.request("POST", "/echo", {"Host": up.authority, "X": SECRET}, b"{}")
    assert answer.status in {500, 503}
    assert SECRET.encode() not in answer.body
    assert not up.requests
