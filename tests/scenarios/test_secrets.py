"""A secret is where it belongs, and nowhere else: not in answers, records, processes or files."""

from __future__ import annotations

import base64
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import brotli
import pytest

from support.agent import Answer, secure_connect
from support.board import Sight, scenario
from support.certs import Certs
from support.exchange import Exchange
from support.files import contents
from support.home import PLACEHOLDER, SECRET, GhostHome, ghost_home
from support.http2 import Http2Exchange
from support.processes import ghost, possess
from support.scene import Scene
from support.shell import Session, inside, spawn, types
from support.upstream import Upstream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BEARER = f"Bearer {SECRET}".encode()
PROTOCOLS = pytest.mark.parametrize("alpn", ["http/1.1", "h2"])
BODIES: dict[str, Callable[[bytes], bytes]] = {
    "json": lambda secret: json.dumps({"error": {"key": secret.decode()}}).encode(),
    "base64": lambda secret: base64.b64encode(b"user:" + secret),
    "base64-later": lambda secret: base64.b64encode(b"xx" + secret),
    "base64-url": base64.urlsafe_b64encode,
    "percent": lambda secret: quote(secret, safe="").encode(),
    "percent-all": lambda secret: b"".join(b"%%%02x" % byte for byte in secret),
    "hex": lambda secret: secret.hex().encode(),
    "json-escapes": lambda secret: b"".join(b"\\u%04x" % byte for byte in secret),
    "twice": lambda secret: secret + b" and " + secret,
}
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def forms() -> list[bytes]:
    """Return what an agent could make the secret of again."""
    secret = SECRET.encode()
    made = [make(secret) for name, make in BODIES.items() if name not in ("json", "twice")]
    inner = [base64.b64encode(bytes(phase) + secret)[4:-4] for phase in range(3)]
    return [secret, secret.hex().upper().encode(), *inner, *made]


def clean(*texts: bytes) -> None:
    """Check that no form of the secret is in any of these."""
    for text in texts:
        for form in forms():
            assert form not in text, form


def heard(answer: Answer) -> bytes:
    """Return everything that came back, as one text."""
    return b"\n".join(
        [answer.head, answer.body, *(name + b": " + value for name, value in answer.headers)]
    )


def kept(scene: Scene) -> bytes:
    """Return everything that the ledger holds of the scene."""
    ledger = scene.proxy.proxy.services.ledger
    texts: list[bytes] = []
    for session in scene.sessions:
        texts += [stored.body for stored in ledger.entries(session.sid)]
        texts += [item.data or b"" for item in ledger.disclosures(session.sid)]
    return b"\n".join(texts)


ECHO = scenario(
    "echoed-secret", 1, "calls whose answers repeat the secret, in every form and coding"
)


@ECHO
@PROTOCOLS
@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_an_echo_in_a_body_arrives_as_a_mark(
    method: str, form: str, alpn: str, scene: Scene
) -> None:
    def leak(exchange: Exchange) -> None:
        secret = (exchange.record.header("authorization") or b"").removeprefix(b"Bearer ")
        exchange.reply(401, b"said: " + BODIES[form](secret), [("Content-Type", "text/plain")])

    scene.up.route("/leak", leak)
    answer = scene.ask(method, "/leak", alpn=alpn)
    assert answer.status == 401
    assert b"[redacted by ghost]" in answer.body
    clean(heard(answer), kept(scene))
    assert scene.arrived[0].all("authorization") == (BEARER,)


@ECHO
@pytest.mark.parametrize("held", [True, False], ids=["held", "streamed"])
@pytest.mark.parametrize("coding", CODINGS)
def test_an_echo_in_a_compressed_body_arrives_as_a_mark(
    coding: str, held: bool, scene: Scene
) -> None:
    def leak(exchange: Exchange) -> None:
        secret = exchange.record.header("authorization") or b""
        body = CODINGS[coding](b"x" * 2000 + secret + b"y" * 2000)
        headers = [("Content-Type", "text/plain"), ("Content-Encoding", coding)]
        exchange.start(200, headers, length=len(body) if held else None)
        for at in range(0, len(body), 7):
            exchange.send(body[at : at + 7])
        exchange.finish()

    scene.up.route("/packed", leak)
    answer = scene.ask("POST", "/packed", body=b"{}")
    assert answer.body == b"x" * 2000 + b"Bearer [redacted by ghost]" + b"y" * 2000
    clean(heard(answer), kept(scene))


@ECHO
@PROTOCOLS
@pytest.mark.parametrize("piece", [1, 5, len(SECRET) // 2])
def test_an_echo_that_is_cut_into_events_arrives_as_a_mark(
    piece: int, alpn: str, scene: Scene
) -> None:
    def leak(exchange: Exchange) -> None:
        text = b"data: " + SECRET.encode() + b"\n\n"
        exchange.start(200, [("Content-Type", "text/event-stream")])
        for at in range(0, len(text), piece):
            exchange.send(text[at : at + piece])
        exchange.finish()

    scene.up.route("/events", leak)
    answer = scene.ask("POST", "/events", body=b"{}", alpn=alpn)
    assert answer.body == b"data: [redacted by ghost]\n\n"
    clean(kept(scene))


@ECHO
@PROTOCOLS
@pytest.mark.parametrize(
    "line",
    [
        ("Set-Cookie", f"key={SECRET}; Path=/"),
        ("Location", f"https://localhost/?key={quote(SECRET, safe='')}"),
        ("WWW-Authenticate", f'Bearer realm="{SECRET}"'),
        ("X-Debug", base64.b64encode(SECRET.encode()).decode()),
        (f"X-{SECRET}", "1"),
    ],
    ids=lambda line: line[0].split("sk_")[0],
)
def test_an_echo_in_a_header_arrives_as_a_mark(
    line: tuple[str, str], alpn: str, scene: Scene
) -> None:
    scene.up.route("/head", lambda each: each.reply(302, b"", [line]))
    answer = scene.ask("POST", "/head", body=b"{}", alpn=alpn)
    assert answer.status == 302
    clean(heard(answer), kept(scene))


@ECHO
def test_an_echo_in_the_reason_phrase_arrives_as_a_mark(scene: Scene) -> None:
    def leak(exchange: Exchange) -> None:
        line = f"HTTP/1.1 400 {SECRET}\r\nContent-Length: 0\r\n\r\n"
        exchange.raw(line.encode())  # type: ignore[attr-defined]

    scene.up.route("/reason", leak)
    clean(heard(scene.ask("POST", "/reason", body=b"{}")), kept(scene))


@ECHO
def test_an_echo_behind_the_body_arrives_as_a_mark(staged, certs: Certs) -> None:
    def leak(exchange: Exchange) -> None:
        assert isinstance(exchange, Http2Exchange)
        exchange.start(200, [("content-type", "application/grpc")])
        exchange.send(b"body")
        server = exchange._server
        with server.turn:
            trailers = [("grpc-status", "0"), ("grpc-message", SECRET)]
            server.state.send_headers(exchange._stream, trailers, end_stream=True)
            server.flush()

    with Upstream(certs, alpn=("h2",)) as modern, staged(upstream=modern) as scene:
        modern.route("/grpc", leak)
        answer = scene.ask("POST", "/grpc", body=b"{}", alpn="h2")
        assert answer.body == b"body"
        clean(heard(answer), kept(scene))


@scenario("unreadable-reply", 1, "a secret in a coding that nobody can undo, or cut in its middle")
@pytest.mark.parametrize("coding", ["x-odd", "gzip, gzip", "gzip"])
def test_a_reply_that_cannot_be_read_is_not_passed_on(coding: str, scene: Scene) -> None:
    body = gzip.compress(SECRET.encode() * 50)
    body = body[:-9] if coding == "gzip" else body
    scene.up.route("/odd", lambda each: each.reply(200, body, [("Content-Encoding", coding)]))
    answer = scene.ask("POST", "/odd", body=b"{}")
    assert answer.status == 502
    assert body[10:40] not in answer.body
    outcome = next(each for each in scene.entries() if each.type == "action.outcome")
    assert outcome.fields["status"] == "failed"


@scenario(
    "own-lines", 1, "the client's proxy credentials, token and hop lines, inside the tunnel too"
)
@PROTOCOLS
def test_what_is_for_the_proxy_stays_with_the_proxy(alpn: str, scene: Scene) -> None:
    lines = {
        "Proxy-Authorization": scene.basic,
        "Proxy-Foo": "1",
        "X-Ghost-Token": scene.session.token,
        "Authorization": f"Bearer {PLACEHOLDER}",
        "X-Api-Key": scene.session.token,
        "Cookie": "session=agent",
    }
    if alpn == "http/1.1":
        lines |= {
            "Proxy-Connection": "keep-alive",
            "Connection": "X-Hop, Authorization",
            "X-Hop": "1",
        }
    assert scene.ask("POST", headers=lines, body=b"{}", alpn=alpn).status == 200
    (record,) = scene.arrived
    text = record.head.lower()
    for gone in (
        b"proxy-",
        b"x-hop",
        b"cookie",
        b"x-api-key",
        scene.session.token.lower().encode(),
    ):
        assert gone not in text
    assert record.all("authorization") == (BEARER,)
    assert PLACEHOLDER.encode() not in record.head
    assert scene.session.token.encode() not in kept(scene)


# -- where the secret comes from ---------------------------------------------------------------------

BROKEN = ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00b", "a\u2028b", "a\u0085b"]


@scenario("broken-secret", 1, "a secret with line breaks or NUL in it")
@pytest.mark.parametrize("value", BROKEN)
@pytest.mark.parametrize("kind", ["bearer", "header", "basic"])
def test_a_secret_that_would_split_a_header_goes_nowhere(kind: str, value: str, staged) -> None:
    more = {"header": {"header": "x-key"}, "basic": {"username": "u"}}.get(kind, {})
    with staged(clean=True, credentials={"demo": {"kind": kind, **more}}) as scene:
        (scene.proxy.home.root / "demo.secret").write_bytes(value.encode())
        answer = scene.ask(body=b"{}")
        assert answer.status == 500
        assert value.encode() not in answer.body
        assert scene.denials()[-1].fields["stage"] == "credential"
        scene.untouched()


@scenario("rotated-secret", 1, "a secret that is replaced, then removed, while a tunnel is open")
@pytest.mark.parametrize("source", ["file", "vault"])
def test_the_next_request_has_the_new_secret_or_none(source: str, staged) -> None:
    new = "sk_live_the_second_one_4242424242"
    with staged() as scene:
        home = scene.proxy.home
        if source == "vault":
            config = home.config.read_text("utf-8")
            was = f"file:{home.root / 'demo.secret'}"
            assert ghost(home, "credential", "add", "demo", stdin=SECRET).code == 0
            home.config.write_text(config.replace(was, "vault:demo"), "utf-8")
        with scene.tunnel() as tunnel:
            assert scene.send(tunnel, body=b"{}").status == 200
            if source == "vault":
                assert ghost(home, "credential", "add", "demo", stdin=new).code == 0
            else:
                (home.root / "demo.secret").write_text(new)
            assert scene.send(tunnel, body=b"{}").status == 200
            if source == "vault":
                assert inside(home, "credential", "remove", "demo").code == 0
            else:
                (home.root / "demo.secret").unlink()
            assert scene.send(tunnel, body=b"{}").status == 500
        sent = [record.header("authorization") for record in scene.arrived]
        assert sent == [BEARER, f"Bearer {new}".encode()]
        assert scene.denials()[-1].fields["stage"] == "credential"


@scenario(
    "secret-in-url", 1, "a credential that goes into the query, and answers that repeat the URL"
)
@PROTOCOLS
def test_a_secret_in_a_url_is_in_no_answer_and_no_record(alpn: str, staged) -> None:
    kind = {"demo": {"kind": "query", "query": "key"}}
    with staged(credentials=kind, proxy={"record": "all"}) as scene:
        answer = scene.ask("GET", f"/echo?a=1&key={PLACEHOLDER}", alpn=alpn)
        (record,) = scene.arrived
        assert f"key={SECRET}".encode() in record.target
        assert record.target.count(b"key=") == 1
        assert (answer.status, b"[redacted by ghost]" in answer.body) == (200, True)
        clean(heard(answer), kept(scene))


# -- a whole home, as processes ----------------------------------------------------------------------

AGENT = """
import json, os, pathlib, sys, urllib.request
url, key = sys.argv[1:]
request = urllib.request.Request(url, b"{}", {"Authorization": "Bearer " + key})
answer = urllib.request.urlopen(request).read().decode()
print(json.dumps({"environ": dict(os.environ), "answer": answer}))
"""


@pytest.fixture(scope="module")
def lived(
    tmp_path_factory: pytest.TempPathFactory, certs: Certs, up: Upstream
) -> Iterator[tuple[GhostHome, Session, list[bytes]]]:
    """A home that has lived: calls, echoes, refusals, an end; and everything that was ever shown."""
    with ghost_home(tmp_path_factory.mktemp("lived"), up, certs) as home:
        session = spawn(home, "demo_api")
        shown: list[bytes] = []
        with possess(home, "--session-id", session.sid, "--verbose") as running:
            ca = home.root / "ca" / "ghost-ca-cert.pem"
            with secure_connect(running.port, up.authority, session.auth, ca=ca) as tunnel:
                held = {"Host": up.authority, "Authorization": f"Bearer {PLACEHOLDER}"}
                for path in ("/echo", "/split-secret", "/gzip-echo-header", "/nowhere", "/..%2fx"):
                    answer = tunnel.request("POST", path, held, b"{}")
                    shown += [answer.head, answer.body]
                shown.append(tunnel.request("GET", "/echo?q=1", held).body)
            done = ghost(home, "evaporate", "--session-id", session.sid)
            assert done.code == 0, done.err
            shown += [done.out.encode(), done.err.encode()]
        shown += [line.encode() for line in (*running.lines, *running.errors)]
        yield home, session, shown


def exported(home: GhostHome, session: Session) -> Iterator[bytes]:
    """Yield what every command shows or writes of the session."""
    for words in (
        ["replay", "--format", "json", "--disclose"],
        ["replay", "--format", "html", "--disclose"],
        ["replay", "--format", "csv"],
        ["residue"],
        ["session", "show", "--json"],
    ):
        named = [session.sid] if words[0] == "session" else ["--session-id", session.sid]
        done = inside(home, *words[:2], *(named if words[0] == "session" else []), *words[2:],
                      *(named if words[0] != "session" else []))  # fmt: skip
        assert done.code == 0, (words, done.err)
        yield done.out.encode() + done.err.encode()
    bundle = home.root / "one.ghost"
    assert inside(home, "bundle", session.sid, "--disclose", "-o", str(bundle)).code == 0
    yield bundle.read_bytes()


@scenario("secret-in-evidence", 1, "calls, echoes and refusals; then every file, log and export")
def test_no_file_log_or_export_holds_secret_or_token(
    lived: tuple[GhostHome, Session, list[bytes]], sight: Sight
) -> None:
    home, session, shown = lived
    texts = [*shown, *exported(home, session)]
    files = contents(home.root, home.runtime, but="demo.secret")
    texts += files.values()
    clean(*texts)
    assert not any(session.token.encode() in text for text in texts)
    assert any(b"[credential demo]" in text for text in texts)
    sight.upstream.append("the secret, in each request")
    sight.agent.append("marks")
    sight.record.append(f"no secret, no token in {len(files)} files and 6 exports")


@scenario("nothing-left", 1, "a session that was evaporated")
def test_an_evaporated_session_leaves_no_key_and_no_runtime_file(
    lived: tuple[GhostHome, Session, list[bytes]], sight: Sight
) -> None:
    home, session, _ = lived
    assert not (home.runtime / "ghost_sessions" / session.sid).exists()
    assert not list(home.root.rglob("*ed25519_key*"))
    assert types(home, session)[-1] == "session.seal"
    sight.record.append("seal; no key file, no runtime folder")


@scenario("agent-environment", 1, "`ghost run` in a shell that holds the secret, under two names")
def test_an_agent_holds_stand_ins_and_its_proxy_only(
    tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    with ghost_home(tmp_path, up, certs, credentials={"demo": {"secret": "env:DEMO_KEY"}}) as home:
        held = {"DEMO_KEY": SECRET, "COPY": f"https://u:{SECRET}@localhost/"}
        words = ["run", "--scope", "demo_api", "--", sys.executable, "-c", AGENT]
        done = ghost(home, *words, f"{up.url}/echo", PLACEHOLDER, env=held)
        assert done.code == 0, done.err
        seen = json.loads(done.out)
        assert seen["environ"]["DEMO_KEY"] == PLACEHOLDER
        assert up.requests[-1].header("authorization") == BEARER
        clean(done.out.encode(), done.err.encode())
    sight.upstream.append("POST /echo with the secret")
    sight.agent.append("stand-ins; marks in the answer")
    sight.record.append("intent, executed")


@scenario("command-lines", 1, "the command lines of all processes while an agent runs")
def test_no_command_line_holds_secret_or_token(scene: Scene, sight: Sight) -> None:
    home = scene.proxy.home
    text = (
        "import os, pathlib, sys\n"
        "token = os.environ['HTTPS_PROXY'].split('@')[0].split(':')[-1]\n"
        "found = []\n"
        "for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):\n"
        "    try: found.append(path.read_bytes())\n"
        "    except OSError: pass\n"
        "sys.stdout.write(str(any(token.encode() in each for each in found)))\n"
        "sys.stdout.write(' ' + b' '.join(found).hex())"
    )
    done = ghost(home, "run", "--", sys.executable, "-c", text)
    assert done.code == 0, done.err
    token_seen, _, lines = done.out.partition(" ")
    assert token_seen == "False"
    assert b"ghost_cli" in bytes.fromhex(lines)
    assert SECRET.encode() not in bytes.fromhex(lines)
    sight.agent.append("its token in its environment only")
