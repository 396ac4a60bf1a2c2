"""Sessions of this process: who a client is, and whether it still lives."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghost_addons.refusal import Refusal
from ghost_addons.session import Sessions
from ghost_addons.ticket import Ticket
from ghost_core import ids
from ghost_core.errors import DeniedError, GhostError, IntegrityError
from ghost_ledger.recorder import Receipt
from ghost_ledger.session import control
from ghost_ledger.session.custody import Custody, is_owned
from ghost_ledger.session.runtime import SessionFolder
from support.agent import raw_connect, secure_connect
from support.certs import Certs
from support.handclock import HandClock
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream


def basic(user: str, password: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{user}:{password}".encode())


def refused(sessions: Sessions, header: bytes) -> str:
    """Return the code with which a client is refused."""
    with pytest.raises(GhostError) as caught:
        sessions.authenticate(header)
    return caught.value.code


def in_loop[T](proxy: LiveProxy, work: Callable[[], T]) -> T:
    """Run something where sessions live, in the proxy's loop."""

    async def program() -> T:
        return work()

    return proxy.do(program())


def test_both_schemes_lead_to_the_same_session(proxy: LiveProxy, session: LiveSession) -> None:
    sessions = proxy.proxy.services.sessions
    one = in_loop(proxy, lambda: sessions.authenticate(basic(*session.auth)))
    other = in_loop(proxy, lambda: sessions.authenticate(f"bearer  {session.token}".encode()))
    assert one.session is other.session
    assert (one.session.sid, one.ticket) == (session.sid, None)
    assert sessions.live == (one.session,)


def test_a_token_that_opened_its_session_needs_the_server_key_no_more(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with live_proxy(tmp_path, certs, up) as proxy:
        session = proxy.spawn("demo_api")
        sessions = proxy.proxy.services.sessions
        in_loop(proxy, lambda: sessions.authenticate(basic(*session.auth)))
        kept = proxy.home.root / "keys" / "token_keys.json"
        kept.rename(kept.with_suffix(".gone"))
        again = in_loop(proxy, lambda: sessions.authenticate(basic(*session.auth)))
        assert again.session.sid == session.sid
        other = session.token[:-1] + ("A" if session.token[-1] != "A" else "B")
        assert refused(sessions, basic(session.sid, other)) == "session.token.key"


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"", "session.scheme"),
        (b"Digest x", "session.scheme"),
        (b"Basic \xff\xff", "session.scheme"),
        (b"Basic " + base64.b64encode(b"\xe4:x"), "session.scheme"),
        (basic("gh_short", "x"), "session.unknown"),
        (basic("gh_" + "0" * 32, "x"), "session.token.malformed"),
        (b"Bearer ", "session.token.malformed"),
    ],
)
def test_what_is_no_credential_of_ours_is_refused(
    header: bytes, code: str, proxy: LiveProxy
) -> None:
    assert refused(proxy.proxy.services.sessions, header) == code


def test_a_session_that_the_ledger_does_not_know_is_not_admitted(proxy: LiveProxy) -> None:
    with pytest.raises(DeniedError) as caught:
        proxy.proxy.services.sessions.admit(ids.session_id())
    assert caught.value.code == "session.unknown"


def test_what_is_over_is_not_admitted(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    clock = HandClock()
    with live_proxy(tmp_path, certs, up, clock=clock) as live:
        sealed, late = live.spawn("demo_api"), live.spawn("demo_api", ttl_seconds=5)
        live.evaporate(sealed)
        clock.pass_seconds(6)
        sessions, codes = live.proxy.services.sessions, []
        for session in (sealed, late):
            with pytest.raises(DeniedError) as caught:
                sessions.admit(session.sid)
            codes.append(caught.value.code)
        assert codes == ["session.evaporated", "session.expired"]
        assert in_loop(live, lambda: sessions.admit(late.sid, ended=True)).sid == late.sid


def test_a_session_that_is_ending_or_over_takes_no_client(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    clock = HandClock()
    with live_proxy(tmp_path, certs, up, clock=clock) as live:
        session, sessions = live.spawn("demo_api", ttl_seconds=20), live.proxy.services.sessions
        owned = in_loop(live, lambda: sessions.admit(session.sid))
        owned.ending = True
        assert not owned.alive()
        assert refused(sessions, basic(*session.auth)) == "session.evaporated"
        owned.ending = False
        assert owned.alive()
        owned.ends = lambda: True
        assert not owned.alive()
        assert refused(sessions, basic(*session.auth)) == "session.expired"


def test_a_child_takes_no_client_once_its_parent_has_ended(proxy: LiveProxy) -> None:
    parent = proxy.spawn("demo_api")
    child = proxy.spawn("demo_api", ttl_seconds=30, parent=parent.sid)
    sessions = proxy.proxy.services.sessions
    owned = in_loop(proxy, lambda: sessions.authenticate(basic(*child.auth))).session
    assert owned.parent == parent.sid
    owned.parent = ids.session_id()
    assert refused(sessions, basic(*child.auth)) == "session.parent_ended"


def test_a_ticket_opens_the_way_for_its_session_only_while_it_is_issued(
    proxy: LiveProxy, session: LiveSession
) -> None:
    sessions, ticket = proxy.proxy.services.sessions, Ticket("demo_api", "")
    in_loop(proxy, lambda: sessions.admit(session.sid))
    header = basic(session.sid, ticket.password)
    assert refused(sessions, header) == "session.token.malformed"
    sessions.issue_ticket(ticket)
    assert sessions.authenticate(header).ticket is ticket
    assert (
        refused(sessions, basic(proxy.spawn("demo_api").sid, ticket.password))
        == "session.token.malformed"
    )
    sessions.withdraw_ticket(ticket)
    assert refused(sessions, header) == "session.token.malformed"


def test_a_key_that_does_not_fit_keeps_nobody_out_for_ever(
    proxy: LiveProxy, session: LiveSession, up: Upstream, tmp_path: Path
) -> None:
    mine, other = SessionFolder(session.sid), SessionFolder(proxy.spawn("demo_api").sid)
    right = tmp_path / "right"
    shutil.copy(mine.key, right)
    shutil.copy(other.key, mine.key)
    sessions = proxy.proxy.services.sessions
    with pytest.raises(IntegrityError):
        in_loop(proxy, lambda: sessions.admit(session.sid))
    assert not is_owned(session.sid)
    shutil.copy(right, mine.key)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200


def test_an_owner_that_could_not_read_its_rules_answers_once_they_are_mended(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    config = proxy.home.config.read_text()
    proxy.home.append("[proxy.oops]\nx = 1")
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        assert tunnel.status == 500
    assert not is_owned(session.sid)
    proxy.home.config.write_text(config)
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca):
        assert control.ask(session.sid, {"op": "status"}, timeout=5)["port"] == proxy.port


def test_a_session_is_admitted_with_the_custody_of_the_caller(proxy: LiveProxy) -> None:
    session = proxy.spawn("demo_api")
    sessions = proxy.proxy.services.sessions
    owned = in_loop(proxy, lambda: sessions.admit(session.sid))
    assert sessions.get(session.sid) is owned
    assert in_loop(proxy, lambda: sessions.admit(session.sid)) is owned
    in_loop(proxy, lambda: sessions.release(owned))
    assert sessions.get(session.sid) is None
    assert not is_owned(session.sid)


def test_hooks_are_told_of_the_session_without_its_token(
    proxy: LiveProxy, session: LiveSession
) -> None:
    sessions = proxy.proxy.services.sessions
    owned = in_loop(proxy, lambda: sessions.authenticate(basic(*session.auth))).session
    assert owned.document() == {
        "session_id": session.sid,
        "intent": "test",
        "scopes": ["demo_api"],
    }


def test_a_custody_that_was_lent_stays_with_its_lender(
    proxy: LiveProxy, session: LiveSession
) -> None:
    sessions = proxy.proxy.services.sessions

    def fails(_: object) -> None:
        raise IntegrityError("odd")

    with Custody.acquire(session.sid) as custody:
        sessions.on_admit = fails
        with pytest.raises(IntegrityError):
            in_loop(proxy, lambda: sessions.admit(session.sid, custody=custody))
        assert sessions.get(session.sid) is None
        assert custody.key.sign(b"still ours")


def test_only_the_ticket_of_a_refused_call_hears_of_it(
    proxy: LiveProxy, session: LiveSession
) -> None:
    sessions, one, other = proxy.proxy.services.sessions, Ticket("a", "b"), Ticket("a", "b")
    refusal = Refusal(403, "rule.denied", "no", "rule")
    receipt = Receipt(1, session.sid, 1, b"\0" * 32, b"", b"", ts=1)
    for ticket in (one, other):
        sessions.issue_ticket(ticket)
    sessions.tell_ticket(other.action_id, refusal, receipt)
    assert (one.status, other.status, other.reason) == ("", "denied", "no")
