"""One scenario on a live proxy: a session, its clients, and what became of what they sent.

def test_x(scene: Scene) -> None:
    answer = scene.ask("POST", "/echo", {"Host": "evil.test"}, b"{}")
    scene.refused(answer, 421, "target.mismatch")      # and nothing was dialled
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from support.agent import Answer, Tunnel, raw_connect
from support.agent2 import Http2Client
from support.board import Sight
from support.live import LiveProxy, LiveSession

if TYPE_CHECKING:
    from ghost_ledger.entry import Entry
    from support.exchange import Record
    from support.upstream import Upstream

type Lines = Mapping[str, str] | Sequence[tuple[str, str]]


class Scene:
    """A session of its own at a proxy that others may share; only what is new counts."""

    def __init__(self, proxy: LiveProxy, up: Upstream, sight: Sight, *scopes: str) -> None:
        self.proxy, self.up, self.sight = proxy, up, sight
        self.sessions: list[LiveSession] = []
        self.session = self.spawn(*(scopes or ("demo_api",)))
        self._requests, self._connections = len(up.requests), up.connections
        self._system = len(proxy.entries("system"))

    # -- sending -------------------------------------------------------------------------------------

    def spawn(self, *scopes: str, ttl_seconds: int = 60, parent: str | None = None) -> LiveSession:
        """Spawn a further session of this scenario."""
        made = self.proxy.spawn(*scopes, ttl_seconds=ttl_seconds, parent=parent)
        self.sessions.append(made)
        return made

    def connect(self, authority: str = "") -> Tunnel:
        """Open a connection and send CONNECT with the session's credentials."""
        tunnel = raw_connect(self.proxy.port, authority or self.up.authority, self.session.auth)
        assert tunnel.connected is not None
        if tunnel.status != 200:
            self.hear(tunnel.connected)
        return tunnel

    def tunnel(
        self, authority: str = "", *, sni: str | None = "", alpn: str = "http/1.1"
    ) -> Tunnel:
        """Open a tunnel with TLS in it; its SNI is the authority's name, another one, or none."""
        tunnel = self.connect(authority)
        assert tunnel.status == 200, tunnel.connected
        name = (authority or self.up.authority).rpartition(":")[0] if sni == "" else sni
        # The certificate is for the tunnel's name; whoever plays with names does not check it.
        tunnel.tls(sni=name, ca=self.proxy.ca if sni == "" else None, alpn=(alpn,))
        return tunnel

    def ask(
        self,
        method: str = "POST",
        path: str = "/echo",
        headers: Lines = (),
        body: bytes = b"",
        *,
        alpn: str = "http/1.1",
        authority: str = "",
    ) -> Answer:
        """Send one request on a connection of its own; Host is the upstream's unless given."""
        with self.tunnel(authority, alpn=alpn) as tunnel:
            return self.send(tunnel, method, path, headers, body, alpn=alpn)

    def send(
        self,
        tunnel: Tunnel,
        method: str = "POST",
        path: str = "/echo",
        headers: Lines = (),
        body: bytes = b"",
        *,
        alpn: str = "http/1.1",
    ) -> Answer:
        """Send one request on an open tunnel and hear its answer."""
        lines = list(headers.items() if isinstance(headers, Mapping) else headers)
        hosts = [value for name, value in lines if name.lower() == "host"]
        if alpn == "h2":
            own = hosts[0] if hosts else self.up.authority
            lines = [(name.lower(), value) for name, value in lines if name.lower() != "host"]
            return self.hear(Http2Client(tunnel).request(method, path, own, lines, body))
        lines = lines if hosts else [("Host", self.up.authority), *lines]
        return self.hear(tunnel.request(method, path, lines, body))

    def raw(self, data: bytes, *, authority: str = "") -> Answer:
        """Send bytes as they are inside a tunnel and hear one answer."""
        with self.tunnel(authority) as tunnel:
            tunnel.send(data)
            return self.hear(tunnel.answer())

    @property
    def basic(self) -> str:
        """The value of Proxy-Authorization of this session."""
        return "Basic " + base64.b64encode(":".join(self.session.auth).encode()).decode()

    # -- seeing --------------------------------------------------------------------------------------

    def hear(self, answer: Answer) -> Answer:
        """Note an answer for the table."""
        self.sight.agent.append(f"{answer.status} {reason_of(answer)}".strip())
        return answer

    @property
    def arrived(self) -> tuple[Record, ...]:
        """The requests that the upstream saw since the scene began."""
        return self.up.requests[self._requests :]

    @property
    def dialled(self) -> int:
        """The connections that the upstream accepted since the scene began."""
        return self.up.connections - self._connections

    def entries(self) -> list[Entry]:
        """Return the entries of the scene's sessions after their spawn, and new ones of the system."""
        found = [each for session in self.sessions for each in self.proxy.entries(session)]
        # A late count of equal refusals may be of the scene before.
        system = self.proxy.entries("system")[self._system :]
        found += [each for each in system if "count" not in each.fields]
        return [each for each in found if each.type not in ("session.spawn", "session.closed")]

    def denials(self) -> list[Entry]:
        """Return the refusals in the record."""
        return [each for each in self.entries() if each.type == "action.denied"]

    def refused(self, answer: Answer | None, status: int, code: str = "") -> None:
        """Check that a call was refused: status and code, nothing dialled, and entered as such."""
        assert answer is not None
        assert answer.status == status, (answer.status, answer.body)
        assert not code or reason_of(answer) == code, answer.body
        self.untouched()
        assert any(
            (each.fields["code"], code or each.fields["error"]) == (status, each.fields["error"])
            for each in self.denials()
        ), [each.fields for each in self.entries()]

    def untouched(self) -> None:
        """Check that the upstream was not even dialled."""
        assert self.arrived == ()
        assert self.dialled == 0

    def look(self) -> None:
        """Note what upstream and record hold now, for the table."""
        self.sight.upstream.append(_requests(self.arrived, self.dialled))
        self.sight.record.append(_entries(self.entries()))


@contextmanager
def played(proxy: LiveProxy, up: Upstream, sight: Sight, *scopes: str) -> Iterator[Scene]:
    """Play a scene and note at its end what was seen."""
    scene = Scene(proxy, up, sight, *scopes)
    try:
        yield scene
    finally:
        scene.look()


def watched(live: LiveProxy, up: Upstream, sight: Sight) -> None:
    """Note what upstream and record hold after a test that drives a proxy and an upstream of its own."""
    sight.upstream.append(_requests(up.requests, up.connections))
    entries = [each for session in live.spawned for each in live.entries(session)]
    ended = ("session.spawn", "session.closed")
    sight.record.append(_entries([each for each in entries if each.type not in ended]))


def reason_of(answer: Answer) -> str:
    """Return the code of a refusal of ours; empty for any other answer."""
    try:
        found = json.loads(answer.body)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return (answer.header("x-ghost-reason") or b"").decode()
    return str(found)


def _requests(records: Sequence[Record], dialled: int) -> str:
    if not records:
        return f"{dialled} connections, no request" if dialled else "nothing"
    return ", ".join(
        _counted(f"{each.method.decode('latin-1')} {_short(each)}" for each in records)
    )


def _short(record: Record) -> str:
    path = record.target.decode("latin-1").partition("?")[0]
    return path if len(path) <= 30 else f"{path[:29]}…"


def _entries(entries: Sequence[Entry]) -> str:
    return ", ".join(_counted(_said(each) for each in entries)) or "nothing"


def _said(entry: Entry) -> str:
    kind = entry.type.partition(".")[2]
    match entry.type:
        case "action.denied":
            return f"denied {entry.fields['error']}"
        case "action.outcome" if "error" in entry.fields:
            return f"{entry.fields['status']} {entry.fields['error']}"
        case "action.outcome":
            return str(entry.fields["status"])
        case _:
            return kind


def _counted(texts: Sequence[str] | Iterator[str]) -> list[str]:
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return [text if count == 1 else f"{text} ×{count}" for text, count in counts.items()]
