"""The operator's live view: what happened, never what was said."""

from __future__ import annotations

import json
import logging

import pytest

from ghost_addons import trail
from ghost_core import log
from support.agent import secure_connect
from support.home import SECRET
from support.live import LiveProxy
from support.upstream import Upstream


def test_each_call_and_each_refusal_is_one_event(
    proxy: LiveProxy, up: Upstream, capsys: pytest.CaptureFixture[str]
) -> None:
    log.configure(json=True, verbose=True)
    session = proxy.spawn(f"POST {up.url}/echo")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("POST", "/echo?private=1", {"Host": up.authority}, b"{}")
        tunnel.request("DELETE", "/echo?private=1", {"Host": up.authority})
    text = capsys.readouterr().err
    events = [json.loads(line) for line in text.splitlines() if "ghost.trail" in line]
    assert [each["event"] for each in events] == ["action.settled", "action.denied"]
    assert events[0]["status"] == "executed"
    assert events[1]["code"] == "scope.action"
    assert "private" not in text
    assert SECRET not in text
    assert session.token not in text


def test_nothing_is_said_where_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(json=True, verbose=False)
    trail.told("action.settled")
    assert not logging.getLogger("ghost.trail").isEnabledFor(logging.INFO)
    assert capsys.readouterr().err == ""
