"""Compares what an upstream saw with what the ledger says, after each thing that a client tried."""

from __future__ import annotations

import logging
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import override
from urllib.parse import unquote_to_bytes

from ghost_hooks.target import Target
from ghost_ledger import entry, wiretoken
from ghost_ledger.entry import Entry
from support.agent import secure_connect
from support.fuzzing import Tally
from support.home import SECRET
from support.live import LiveProxy, LiveSession
from support.strict import Lines, Message
from support.tap import Tap, Wire

ANSWER = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])[^\r\n]*\r\n(.*?)\r\n\r\n", re.DOTALL)
REAL = SECRET.encode()
DENIED = re.compile(rb"/admin(?:[;/].*)?\Z", re.DOTALL)
PATIENCE_SECONDS = 20.0
UNENTERED = {"session.missing"}
"""Refusals without an entry: nobody said who he is, so there is nobody to enter it for."""


PAGES = {
    "upstream.unreachable": "upstream.failed",
    "upstream.broken": "upstream.failed",
    "upstream.tls": "upstream.failed",
}
"""Outcomes whose answer the engine writes, and the code on its page."""


@dataclass(frozen=True, slots=True)
class Told:
    """One answer as the client read it; `reason` is empty where the upstream gave it."""

    status: int
    reason: str


class Complaints(logging.Handler):
    """Keeps what the engine and we log as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self.texts.append(f"{record.getMessage()} {record.exc_info or ''}")


class Witness:
    """Knows the ledger of one proxy and what it has already been shown of it.

    Under load an upstream can accept a connection only after the client that caused it has left and was
    judged. So intents are kept until a request is found for them, and a request may belong to an earlier one.
    """

    def __init__(self, proxy: LiveProxy, taps: Sequence[Tap], *scopes: str) -> None:
        self.proxy, self.taps = proxy, taps
        self.tally = Tally()
        self.complaints = Complaints()
        self._scopes = scopes
        self._seen = 0
        self._uses = 0
        self._early: list[str] = []
        self._intents: dict[str, tuple[int, Entry]] = {}
        self._outcomes: dict[str, Entry] = {}
        self._keys: dict[str, bytes] = {}
        self.session = self._spawn()
        for tap in taps:
            tap.look = self._look

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear what is logged meanwhile."""
        logging.getLogger().addHandler(self.complaints)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(self.complaints)

    def next(self) -> LiveSession:
        """Return the session for the next example; each serves some dozens."""
        self._uses += 1
        if self._uses % 40 == 0:
            self.session = self._spawn()
        if self._uses % 10 == 0:
            self._check_alive()
        return self.session

    def _check_alive(self) -> None:
        """See that an ordinary call goes through, on a connection of its own."""
        tap, proxy = self.taps[0], self.proxy
        with secure_connect(proxy.port, tap.authority, self.session.auth, ca=proxy.ca) as tunnel:
            answer = tunnel.request("POST", "/alive", {"Host": tap.authority}, b"{}")
        assert (answer.status, answer.body) == (200, b"ok")
        found = self._compare(b"", [Told(200, "")])
        assert [each.body for each in found if each.target == b"/alive"] == [b"{}"]

    def judge(
        self, kinds: Iterable[str], raw: bytes, answers: Sequence[Told], *, cut: bool = False
    ) -> None:
        """Compare, once all is quiet; raises AssertionError naming what differs.

        `cut` tells that the proxy ended the connection, which it may not do silently.
        """
        forwarded = len(self._compare(raw, answers, cut=cut))
        reasons = [told.reason for told in answers if told.reason]
        self.tally.add(kinds, forwarded=forwarded, reasons=reasons)

    def _compare(self, raw: bytes, answers: Sequence[Told], *, cut: bool = False) -> list[Message]:
        """Return the requests that the upstreams saw."""
        self._settle()
        wires = [(tap, wire) for tap in self.taps for wire in tap.take()]
        heard, self.complaints.texts = self.complaints.texts, []
        early, self._early = self._early, []
        assert not heard, heard
        assert not early, early
        assert REAL not in raw, "the secret came back"
        entries = self._entries_for(answers, cut=cut)
        for _, each in entries:
            assert not str(each.fields.get("error", "")).startswith("guard."), each.fields
        self._intents |= {e.id: (idx, e) for idx, e in entries if e.type == "action.intent"}
        self._outcomes |= {each.id: each for _, each in entries if each.type == "action.outcome"}
        for tap, wire in wires:  # takes each intent out that it finds a request for
            self._check_wire(tap, wire)
        return [message for _, wire in wires for message in wire.messages]

    def _entries_for(
        self, answers: Sequence[Told], *, cut: bool = False
    ) -> list[tuple[int, Entry]]:
        """Return what was entered meanwhile; a client that left early does not see its last entry come."""
        entries: list[tuple[int, Entry]] = []
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.proxy.do(self.proxy.proxy.services.refusals.flush())
            entries += self._new_entries()
            lacks = _lacking([each for _, each in entries], answers)
            if cut and not answers and not entries:
                lacks = "the proxy left without an answer and an entry"
            if not lacks:
                return entries
            assert time.monotonic() < deadline, lacks
            time.sleep(0.005)

    # -- one by one ----------------------------------------------------------------------------------

    def _check_wire(self, tap: Tap, wire: Wire) -> None:
        assert not wire.fault, f"ambiguous: {wire.fault}; {wire.data[:2000]!r}"
        expected = len(wire.messages) if tap.secure else 0
        assert wire.data.count(REAL) == expected, "the secret is not there exactly once a request"
        for message in wire.messages:
            action = self._action_of(message)
            assert action in self._intents, "forwarded without an intent, or twice"
            idx, intent = self._intents.pop(action)
            self._check_message(tap, message, idx, intent, self._outcomes.pop(action))

    def _action_of(self, message: Message) -> str:
        (token,) = message.all(b"x-ghost-token")
        text, now = token.decode(), int(time.time())
        public = self._keys[_claimed(text).sid]
        return wiretoken.check(text, public, now_s=now, host="localhost").action_id

    def _check_message(
        self, tap: Tap, message: Message, idx: int, intent: Entry, outcome: Entry
    ) -> None:
        fields = intent.fields
        assert message.method.decode() == fields["method"]
        assert message.all(b"host") == (tap.authority.encode(),)
        assert (fields["host"], fields["port"]) == ("localhost", tap.port)
        assert fields["scheme"] == ("https" if tap.secure else "http")
        assert not DENIED.match(_decoded(message.target)), "a denied path was forwarded"
        text = message.target.decode("ascii")
        assert Target.at("https", "localhost", 443, text).path_and_query == text
        judged = self._payload(idx, intent, "forwarded")
        token = message.all(b"x-ghost-token")[0]
        judged = judged.replace(b"[credential demo]", REAL).replace(b"[ghost token]", token)
        first, lines = _head(judged)
        assert first == b"%s %s HTTP/1.1" % (message.method, message.target)
        sent = tuple((name.lower(), value) for name, value in message.headers)
        assert _own(sent) == _own(lines)
        if fields["body"] == "streamed":
            if message.complete and outcome.fields["ended"] == "complete":
                assert outcome.fields["sent"] == len(message.body)
            return
        assert message.complete
        assert fields["size"] == len(message.body)
        assert self._payload(idx, intent, "params").partition(b"\r\n\r\n")[2] == message.body

    # -- the ledger ----------------------------------------------------------------------------------

    def _spawn(self) -> LiveSession:
        made = self.proxy.spawn(*self._scopes, ttl_seconds=3600)
        self._keys[made.sid] = bytes.fromhex(made.wire_key.rpartition("_")[2])
        return made

    def _settle(self) -> None:
        """Wait until the proxy has forgotten the client."""
        server = self.proxy.proxy.engine._server
        assert server is not None
        deadline = time.monotonic() + PATIENCE_SECONDS
        while server.connections and time.monotonic() < deadline:
            time.sleep(0.001)
        assert not server.connections, "a connection stays open"

    def _rows(self, question: str, *values: object) -> list[tuple[int, bytes]]:
        with closing(sqlite3.connect(self.proxy.home.root / "ghost.db")) as db:
            return db.execute(f"SELECT idx, body FROM entries WHERE {question}", values).fetchall()

    def _new_entries(self) -> list[tuple[int, Entry]]:
        rows = self._rows("idx >= ? ORDER BY idx", self._seen)
        self._seen = max([self._seen, *(idx + 1 for idx, _ in rows)])
        return [(idx, entry.parse(body)) for idx, body in rows]

    def _payload(self, idx: int, found: Entry, field_: str) -> bytes:
        return self.proxy.proxy.services.ledger.payload(found.sid, idx, field_) or b""

    def _look(self, head: bytes) -> None:
        """Check that the intent is in the ledger now, while the upstream reads the head."""
        found = re.search(rb"(?i)\r\nx-ghost-token: *(\S+)\r\n", head)
        if found is None:
            self._early.append(f"no token: {head[:500]!r}")
            return
        action = _claimed(found[1].decode("latin-1")).action_id
        if not self._rows("id = ? AND type = 'action.intent'", action):
            self._early.append(f"the upstream hears of {action} before the ledger does")


def _claimed(token: str) -> wiretoken.Claims:
    return wiretoken._claims(wiretoken._split(token)[0])


def answers_in(raw: bytes) -> list[Told]:
    """Return the final answers in the bytes of an HTTP/1.1 connection."""
    found: list[Told] = []
    for status, head in ANSWER.findall(raw):
        reason = re.search(rb"(?i)(?:^|\r\n)x-ghost-reason: *([^\r\n]*)", head)
        if int(status) >= 200:
            found.append(Told(int(status), reason[1].decode() if reason else ""))
    return found


def _lacking(entries: Sequence[Entry], answers: Sequence[Told]) -> str:
    """Return what the ledger does not tell of: a call's end, or a refusal; empty where nothing is missing."""
    told = Counter(each.reason for each in answers if each.reason and each.reason not in UNENTERED)
    intents = {each.id for each in entries if each.type == "action.intent"}
    outcomes = {each.id for each in entries if each.type == "action.outcome"}
    entered: Counter[str] = Counter()
    for each in entries:
        code = str(each.fields.get("error", ""))
        if each.type in {"action.denied", "action.outcome"} and code:
            count = each.fields.get("count", 1)
            entered[PAGES.get(code, code)] += count if isinstance(count, int) else 1
    if intents != outcomes:
        return f"calls without intent or outcome: {intents ^ outcomes}"
    return f"refused without an entry: {told}, entered: {entered}" if told - entered else ""


def _head(text: bytes) -> tuple[bytes, Lines]:
    first, *lines = text.partition(b"\r\n\r\n")[0].split(b"\r\n")
    pairs = [line.partition(b":") for line in lines]
    return first, tuple((name.lower(), value.strip(b" \t")) for name, _, value in pairs)


def _own(lines: Lines) -> Lines:
    """Return the lines without those that each version of HTTP writes in its own way (RFC 9113 §8.3.1)."""
    return tuple(
        (name, value) for name, value in lines if name not in {b"host", b"transfer-encoding"}
    )


def _decoded(target: bytes) -> bytes:
    path = target.partition(b"?")[0]
    for _ in range(4):
        path = unquote_to_bytes(path)
    return re.sub(rb"/+", b"/", path)
