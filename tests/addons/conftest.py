"""One upstream and one proxy for each test of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.certs import Certs, make_certs
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream

from ghost_addons.action import Action
from ghost_addons.governance import Governor
from ghost_addons.session import LiveSession as Owned
from ghost_core import ids
from ghost_core import settings as configuration
from ghost_hooks.decision import Decision
from ghost_hooks.request import Request
from ghost_hooks.target import Target
from ghost_ledger.session.custody import Custody


@pytest.fixture(scope="session")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Certs:
    """The test authority and its leaves, made once."""
    return make_certs(tmp_path_factory.mktemp("certs"))


@pytest.fixture
def up(certs: Certs) -> Iterator[Upstream]:
    """A recording upstream over TLS."""
    with Upstream(certs) as upstream:
        yield upstream


@pytest.fixture
def proxy(tmp_path: Path, certs: Certs, up: Upstream) -> Iterator[LiveProxy]:
    """A live proxy for the upstream."""
    with live_proxy(tmp_path, certs, up) as live:
        yield live


@pytest.fixture
def session(proxy: LiveProxy) -> LiveSession:
    """A session that may do anything at the upstream's tool."""
    return proxy.spawn("demo_api")


@pytest.fixture
def action_of(home: Path) -> Iterator[Callable[..., Action]]:
    """Return a maker of calls that are judged but not on any wire, by the rules of an empty home."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    sid = ids.session_id()
    governor = Governor(configuration.load, [])
    scopes = ("GET https://api.test/**",)
    with Custody.create(sid) as custody:
        session = Owned(sid, "test", scopes, custody, expires_at_us=0, ends=lambda: False)

        def made(method: str = "POST", *, tool: str = "demo", **fields: Any) -> Action:
            decision = Decision((), allowed=True, tool=tool, action="write" if tool else "")
            request = Request(method, Target.parse("https://api.test/x"))
            action = Action(session, governor.in_force(scopes), decision, request)
            for name, value in fields.items():
                setattr(action, name, value)
            return action

        yield made
