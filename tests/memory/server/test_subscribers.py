from __future__ import annotations

from typing import Any, cast

import anyio
from mcp.server.session import ServerSession

from ghost_memory.server import subscribers
from ghost_memory.server.subscribers import Subscribers

CONTEXT = "ghost://project/app/context"


class Session:
    """A session of one request; what the client said at its handshake tells whose it is."""

    def __init__(self, client: object) -> None:
        self.client_params = client
        self.heard: list[str] = []

    async def send_resource_updated(self, uri: str) -> None:
        self.heard.append(uri)


def of(session: Session) -> ServerSession:
    return cast("Any", session)


def test_a_client_hears_of_what_it_asked_for_in_its_own_spelling() -> None:
    wanted, session = Subscribers(), Session(object())
    assert wanted.add(of(session), "ghost://project/my%20app/context")
    anyio.run(wanted.tell, ["ghost://project/my app/context", "ghost://project/other/context"])
    assert session.heard == ["ghost://project/my%20app/context"]


def test_a_wish_is_ended_by_a_later_request_of_the_same_client() -> None:
    wanted, client = Subscribers(), object()
    first = Session(client)
    wanted.add(of(first), CONTEXT)
    wanted.remove(of(Session(client)), CONTEXT)
    wanted.remove(of(Session(object())), CONTEXT)
    anyio.run(wanted.tell, [CONTEXT])
    assert first.heard == []


def test_only_addresses_of_ours_can_be_asked_for() -> None:
    assert not Subscribers().add(of(Session(object())), "file:///etc/passwd")


def test_what_is_remembered_has_a_bound(monkeypatch: Any) -> None:
    monkeypatch.setattr(subscribers, "MOST", 3)
    wanted, sessions = Subscribers(), [Session(object()) for _ in range(5)]
    for session in sessions:
        for number in range(5):
            wanted.add(of(session), f"ghost://project/{number}/context")
    anyio.run(wanted.tell, [f"ghost://project/{number}/context" for number in range(5)])
    assert [len(session.heard) for session in sessions] == [0, 0, 3, 3, 3]


def test_it_is_true_as_long_as_somebody_wants_to_hear() -> None:
    wanted, client = Subscribers(), object()
    assert not wanted
    wanted.add(of(Session(client)), CONTEXT)
    assert wanted
    wanted.remove(of(Session(client)), CONTEXT)
    assert not wanted
