"""The log of a session: its own calls only, private, bounded, and gone when it is sealed."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from ghost_addons import session_log
from ghost_addons.trail import LOGGER, told
from ghost_core import log
from ghost_ledger.session.runtime import SessionFolder
from support.agent import secure_connect
from support.home import SECRET
from support.live import LiveProxy
from support.upstream import Upstream


@pytest.fixture(autouse=True)
def _listening() -> Iterator[None]:
    log.configure(json=True, verbose=True)
    session_log.listen()
    yield
    for handler in list(LOGGER.handlers):
        LOGGER.removeHandler(handler)


def test_it_holds_the_calls_of_its_session_and_goes_with_the_seal(
    proxy: LiveProxy, up: Upstream
) -> None:
    one, other = (proxy.spawn(f"POST {up.url}/echo") for _ in range(2))
    for session, path in ((one, "/echo?private=1"), (other, "/elsewhere")):
        with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
            tunnel.request("POST", path, {"Host": up.authority}, SECRET.encode())
    files = [
        SessionFolder(each.sid, proxy.home.runtime / "ghost_sessions").log for each in (one, other)
    ]
    texts = [file.read_text() for file in files]
    events = [[json.loads(line)["event"] for line in text.splitlines()] for text in texts]
    assert (events[0][-1], events[1][-1]) == ("action.denied", "action.denied")
    assert files[0].stat().st_mode & 0o777 == 0o600
    assert one.sid in texts[0]
    assert one.sid not in texts[1]
    for hidden in ("private", SECRET, one.token):
        assert hidden not in texts[0]
    proxy.evaporate(one)
    assert not files[0].exists()


def test_what_cannot_be_written_is_lost_and_disturbs_nobody(
    proxy: LiveProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = proxy.spawn("demo_api")
    file = SessionFolder(session.sid, proxy.home.runtime / "ghost_sessions").log
    told("action.denied", sid="gh_" + "0" * 32)
    told("action.denied", sid="../../etc")
    told("action.denied", sid="")
    logging.getLogger("ghost.trail").info("no event of ours")
    assert not file.exists()
    monkeypatch.setattr(session_log, "LIMIT_BYTES", 1)
    told("action.denied", sid=session.sid)
    told("action.denied", sid=session.sid)
    assert len(file.read_text().splitlines()) == 1
    file.unlink()
    file.symlink_to(proxy.home.root / "elsewhere")
    told("action.denied", sid=session.sid)
    assert not (proxy.home.root / "elsewhere").exists()
