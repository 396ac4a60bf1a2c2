"""Clients as they are: what they send, expect, and read from their environment."""

from __future__ import annotations

import base64
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from h2.events import Event, TrailersReceived

from support import fixtures
from support.agent import raw_connect, run_client
from support.agent2 import Http2Client
from support.board import Sight, scenario
from support.certs import Certs
from support.exchange import Exchange
from support.home import PLACEHOLDER, SECRET, GhostHome, ghost_home
from support.http2 import Http2Exchange
from support.node import node
from support.processes import free_port, ghost, possess
from support.scene import Scene
from support.shell import block, entries, inside, spawn
from support.upstream import Upstream

BEARER = f"Bearer {SECRET}".encode()
PROTOCOLS = pytest.mark.parametrize("alpn", ["http/1.1", "h2"])


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@scenario("asks-first", 2, "CONNECT without credentials, then once more with them")
def test_a_client_is_told_how_to_authenticate(scene: Scene) -> None:
    with raw_connect(scene.proxy.port, scene.up.authority) as first:
        assert first.connected is not None
        answer = scene.hear(first.connected)
        assert (answer.status, answer.header("connection")) == (407, b"close")
        assert (answer.header("proxy-authenticate") or b"").startswith(b"Basic ")
        assert first.closed()
    assert scene.ask(body=b"{}").status == 200
    assert len(scene.arrived) == 1


@scenario("challenged", 2, "a first request without credentials, then Basic with the stand-in")
@PROTOCOLS
def test_a_stand_in_inside_basic_is_replaced(alpn: str, staged) -> None:
    def guarded(exchange: Exchange) -> None:
        if exchange.record.header("authorization") == basic("agent", SECRET).encode():
            exchange.reply(200, b"in")
        else:
            exchange.reply(401, b"", [("WWW-Authenticate", 'Basic realm="private"')])

    with staged(credentials={"demo": {"kind": "placeholder"}}) as scene:
        scene.up.route("/private", guarded)
        first = scene.ask("GET", "/private", alpn=alpn)
        assert (first.status, first.header("www-authenticate")) == (401, b'Basic realm="private"')
        wrong = scene.ask("GET", "/private", {"Authorization": basic("agent", "guess")}, alpn=alpn)
        assert wrong.status == 401
        held = {"Authorization": basic("agent", PLACEHOLDER)}
        assert scene.ask("GET", "/private", held, alpn=alpn).body == b"in"
        assert scene.arrived[1].header("authorization") is None


class Attentive(Http2Client):
    """A client that keeps what comes behind the body."""

    trailers: tuple[tuple[bytes, bytes], ...] = ()

    def _see(self, event: Event) -> None:
        if isinstance(event, TrailersReceived):
            self.trailers = tuple((bytes(a), bytes(b)) for a, b in event.headers or ())
        super()._see(event)


@scenario("grpc", 2, "a call of a client that speaks HTTP/2 only, with trailers in the answer")
def test_trailers_arrive_and_the_credential_is_the_same(staged, certs: Certs) -> None:
    def answer(exchange: Exchange) -> None:
        assert isinstance(exchange, Http2Exchange)
        exchange.start(200, [("content-type", "application/grpc")])
        exchange.send(b"\x00\x00\x00\x00\x02ok")
        server = exchange._server
        with server.turn:
            trailers = [("grpc-status", "0"), ("grpc-message", "fine")]
            server.state.send_headers(exchange._stream, trailers, end_stream=True)
            server.flush()

    with Upstream(certs, alpn=("h2",)) as modern, staged(upstream=modern) as scene:
        modern.route("/svc/Method", answer)
        lines = [("content-type", "application/grpc"), ("te", "trailers")]
        with scene.tunnel(alpn="h2") as tunnel:
            assert tunnel.sock.selected_alpn_protocol() == "h2"  # type: ignore[attr-defined]
            client = Attentive(tunnel)
            found = client.request("POST", "/svc/Method", modern.authority, lines, b"x")
        assert scene.hear(found).body == b"\x00\x00\x00\x00\x02ok"
        assert client.trailers == ((b"grpc-status", b"0"), (b"grpc-message", b"fine"))
        (record,) = scene.arrived
        assert (record.alpn, record.header("authorization")) == ("h2", BEARER)
        assert record.header("te") == b"trailers"


VENDORS = {
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "tools-2024-04-04",
    "openai-organization": "org-1",
    "idempotency-key": "k-1",
    "if-match": '"etag"',
    "if-none-match": "*",
    "range": "bytes=0-5",
    "stripe-version": "2026-01-01",
    "x-request-id": "r-1",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "accept": "application/vnd.github+json",
    "content-type": "application/vnd.api+json; charset=utf-8",
    "user-agent": "sdk/1.0 (x; y)",
}


@scenario("vendor-headers", 2, "headers of vendors' SDKs beside the credential")
@PROTOCOLS
def test_every_other_header_passes_unchanged(alpn: str, scene: Scene) -> None:
    assert scene.ask("POST", headers=VENDORS, body=b"{}", alpn=alpn).status == 200
    (record,) = scene.arrived
    for name, value in VENDORS.items():
        assert record.all(name) == (value.encode(),), name
    assert record.all("authorization") == (BEARER,)


@scenario("fifty-tunnels", 2, "fifty tunnels at once, with wrong logins among them")
def test_many_tunnels_pass_and_only_wrong_logins_fail(scene: Scene) -> None:
    def call(number: int) -> int:
        if number % 5 == 0:
            with raw_connect(scene.proxy.port, scene.up.authority, ("gh_" + "0" * 32, "x")) as bad:
                return bad.status
        return scene.ask("GET", "/status/200").status

    with ThreadPoolExecutor(50) as pool:
        statuses = list(pool.map(call, range(50)))
    assert (statuses.count(200), statuses.count(407)) == (40, 10)
    assert len(scene.arrived) == 40


@scenario(
    "unreachable", 3, "upstreams that refuse, break off, are slow to exist, or have no address"
)
@pytest.mark.parametrize("fault", ["refuses", "breaks", "unknown-name"])
def test_an_upstream_that_is_not_there_is_a_recorded_502(fault: str, staged, up: Upstream) -> None:
    port = free_port()
    place = {"refuses": f"localhost:{port}", "unknown-name": "nowhere.invalid:443"}.get(fault)
    tables = {"proxy": {"allow_private": [place]}} if place else {}
    with staged(f"* https://{place or up.authority}/**", **tables) as scene:
        path = "/close" if fault == "breaks" else "/echo"
        host = (place or up.authority).removesuffix(":443")
        answer = scene.ask("POST", path, {"Host": host}, b"{}", authority=place or "")
        assert answer.status == 502
        assert b"ghost" not in answer.head.split(b"\r\n")[0]
        last = scene.entries()[-1]
        assert last.type in ("action.outcome", "action.denied")
        assert last.fields.get("status", "failed") == "failed"


@scenario("other-calls", 3, "an agent's own telemetry and update checks beside its calls")
def test_calls_that_nobody_asked_for_are_refused_and_shown_apart(scene: Scene) -> None:
    assert scene.ask(body=b"{}").status == 200
    for host in ("telemetry.test", "updates.test"):
        with scene.connect(f"{host}:443") as tunnel:
            tunnel.tls(sni=host, ca=scene.proxy.ca)
            answer = scene.send(tunnel, "POST", "/v1/events", {"Host": host}, b"{}")
        assert answer.status == 403
    assert [each.fields["host"] for each in scene.denials()] == ["telemetry.test", "updates.test"]


@scenario("upstream-on-v6", 2, "an upstream that is on ::1 only, in brackets")
def test_an_address_in_brackets_is_one_place(staged, up: Upstream) -> None:
    place = f"[::1]:{up.port}"
    bound = {"demo": {"hosts": [place]}}
    proxy = {"allow_private": [place]}
    with staged(f"* https://{place}/**", credentials=bound, proxy=proxy) as scene:
        with scene.connect(place) as tunnel:
            tunnel.tls(sni=None)
            answer = scene.send(tunnel, headers={"Host": place}, body=b"{}")
        assert answer.status == 200
        assert scene.arrived[0].header("authorization") == BEARER


# -- the certificate authority -----------------------------------------------------------------------

STRICT = """
import ssl, sys, urllib.request
context = ssl.create_default_context()
context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
print(urllib.request.urlopen(sys.argv[1] + "/status/200", context=context).status)
"""
FETCH = "fetch(process.argv[1] + '/status/200').then(a => console.log(a.status))"
PROGRAMS = {
    "curl": ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "{url}/status/200"],
    "curl-http1": [
        "curl",
        "-sS",
        "--http1.1",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code}",
        "{url}/status/200",
    ],
    "strict-python": [sys.executable, "-c", STRICT, "{url}"],
    "requests": [
        sys.executable,
        "-c",
        "import requests, sys; print(requests.get(sys.argv[1] + '/status/200').status_code)",
        "{url}",
    ],
    "node": ["node", "-e", FETCH, "{url}"],
}


place = fixtures.home("module", possessed=True)


@scenario(
    "one-environment", 2, "curl, Python with strict checks, requests and Node, told nothing else"
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_client_needs_the_environment_block_only(
    name: str, place: GhostHome, up: Upstream, sight: Sight
) -> None:
    words = [word.replace("{url}", up.url) for word in PROGRAMS[name]]
    if name == "node":
        words[0] = node()
    session, before = spawn(place, "demo_api"), len(up.requests)
    done = run_client(words, {"HOME": str(place.root), **block(place, session)}, timeout=60)
    assert done.stdout.strip() == b"200", done.stderr
    (record,) = up.requests[before:]
    assert record.header("authorization") == BEARER
    sight.upstream.append("GET /status/200 with the secret")
    sight.agent.append("200")


@scenario("own-roots-too", 2, "the CA file of the environment block")
def test_the_one_file_holds_the_systems_roots_and_ours(place: GhostHome, sight: Sight) -> None:
    values = block(place, spawn(place, "demo_api"))
    pem = Path(values["SSL_CERT_FILE"]).read_bytes()
    assert (place.root / "ca" / "ghost-ca-cert.pem").read_bytes() in pem
    assert pem.count(b"BEGIN CERTIFICATE") > 20
    sight.agent.append("the roots of the system and ours")


@scenario("slow-clock", 2, "a client whose clock is ten minutes slow")
def test_leaf_and_authority_are_dated_back_and_name_each_other(scene: Scene) -> None:
    with scene.tunnel() as tunnel:
        raw = tunnel.sock.getpeercert(binary_form=True)  # type: ignore[attr-defined]
    leaf = x509.load_der_x509_certificate(raw)
    slow = datetime.now(UTC) - timedelta(minutes=10)
    assert leaf.not_valid_before_utc < slow
    ca = x509.load_pem_x509_certificate(scene.proxy.ca.read_bytes())
    assert ca.not_valid_before_utc < slow
    key = ca.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    named = leaf.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
    assert named.key_identifier == key
    scene.sight.agent.append("a leaf dated back")


@scenario("broken-authority", 2, "an authority file that is cut off, or belongs to somebody else")
@pytest.mark.parametrize("fault", ["cut", "foreign-key"])
def test_a_broken_authority_is_told_and_not_replaced(
    fault: str, tmp_path: Path, certs: Certs, sight: Sight
) -> None:
    with ghost_home(tmp_path, certs=certs) as home:
        assert inside(home, "ca", "show").code == 0
        file = home.root / "ca" / "ghost-ca.pem"
        pem = file.read_text()
        broken = pem[:100] if fault == "cut" else pem + "x"
        if fault == "foreign-key":
            begin = pem.index("-----BEGIN CERTIFICATE")
            broken = (certs.folder / "ca.key").read_text() + pem[begin:]
        file.write_text(broken)
        done = inside(home, "possess")
        assert done.code in (3, 7)
        assert "ghost-ca.pem" in done.err
        assert file.read_text() == broken
    sight.agent.append(f"exit {done.code}")


@scenario("no-proxy", 2, "`ghost run` in a shell whose NO_PROXY names the bound host")
def test_a_bypass_of_the_shell_does_not_reach_the_agent(
    place: GhostHome, up: Upstream, sight: Sight
) -> None:
    before = len(up.requests)
    env = {"NO_PROXY": "localhost,127.0.0.1", "no_proxy": "*"}
    curl = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", f"{up.url}/echo"]
    done = ghost(place, "run", "--scope", "demo_api", "--", *curl, env=env)
    assert done.out == "200", done.err
    assert up.requests[before].header("authorization") == BEARER
    sight.upstream.append("POST /echo with the secret")
    sight.agent.append("200")
    sight.record.append("intent, executed")


@scenario(
    "private-index",
    2,
    "pip installs from an index that demands Basic, with the stand-in in its URL",
)
def test_pip_installs_with_a_stand_in_in_its_url(
    tmp_path: Path, certs: Certs, up: Upstream, sight: Sight
) -> None:
    wheel = tmp_path / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("thing.py", "x = 1\n")
        made.writestr(
            "thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n"
        )
        made.writestr(
            "thing-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        made.writestr("thing-1.0.dist-info/RECORD", "")

    def serve(exchange: Exchange) -> None:
        if exchange.record.header("authorization") != basic("agent", SECRET).encode():
            exchange.reply(401, b"", [("WWW-Authenticate", "Basic")])
        elif exchange.record.path.endswith(".whl"):
            exchange.reply(200, wheel.read_bytes())
        else:
            page = f'<a href="/simple/thing/{wheel.name}">{wheel.name}</a>'
            exchange.reply(200, page.encode(), [("Content-Type", "text/html")])

    up.route("/simple/thing/", serve)
    up.route(f"/simple/thing/{wheel.name}", serve)
    kind = {"demo": {"kind": "placeholder"}}
    with ghost_home(tmp_path, up, certs, credentials=kind) as home, possess(home):
        session = spawn(home, "demo_api")
        index = f"https://agent:{PLACEHOLDER}@{up.authority}/simple"
        words = [
            "install",
            "-q",
            "--no-deps",
            "--no-cache-dir",
            "--isolated",
            "--disable-pip-version-check",
        ]
        words += ["--target", str(tmp_path / "target"), "--index-url", index, "thing"]
        env = {"HOME": str(home.root), **block(home, session)}
        done = run_client([sys.executable, "-m", "pip", *words], env, timeout=60)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "target" / "thing.py").exists()
    sight.upstream.append("index and wheel, Basic with the secret")
    sight.agent.append("the package")


# -- `ghost act` ---------------------------------------------------------------------------------------


@scenario("act-retry", 2, "`act` whose upstream takes the call and breaks off, three attempts")
@pytest.mark.parametrize("repeatable", [False, True], ids=["post", "post-with-key"])
def test_only_a_call_with_a_key_is_sent_again(
    repeatable: bool, tmp_path: Path, certs: Certs, sight: Sight
) -> None:
    tool: dict[str, str | bool] = {"idempotency": "header:Idempotency-Key"} if repeatable else {}
    with Upstream(certs) as up, ghost_home(tmp_path, up, certs, tools={"demo_api": tool}) as home:
        session = spawn(home, "demo_api")
        words = ["--tool", "demo_api", "--action", "POST /close", "--params", '{"a":1}']
        done = ghost(home, "act", *words, "--session-id", session.sid)
        assert (done.code, done.json["status"]) == (1, "failed")
        tries = entries(home, session, "action.intent")
        assert len(tries) == len(up.requests) == (3 if repeatable else 1)
        keys = {record.header("idempotency-key") for record in up.requests}
        assert len(keys) == 1
        if repeatable:
            assert None not in keys
            assert [each.fields["attempt"] for each in tries] == [1, 2, 3]
    sight.upstream.append(f"POST /close ×{len(tries)}")
    sight.agent.append(f"exit 1, {done.json['attempts']} attempts")
    sight.record.append(f"intent and failed ×{len(tries)}")


@scenario(
    "retry-after", 2, "an upstream that asks to wait, within the session's time and beyond it"
)
@pytest.mark.parametrize("seconds", [1, 50])
def test_a_wait_is_kept_within_the_lifetime_of_the_session(
    seconds: int, tmp_path: Path, certs: Certs, sight: Sight
) -> None:
    def busy(exchange: Exchange) -> None:
        first = len(times) == 0
        times.append(time.monotonic())
        if first:
            exchange.reply(429, b"{}", [("Retry-After", str(seconds))])
        else:
            exchange.reply(200, b"{}")

    times: list[float] = []
    with Upstream(certs) as up, ghost_home(tmp_path, up, certs) as home:
        up.route("/busy", busy)
        session = spawn(home, "demo_api", ttl=20)
        words = ["--tool", "demo_api", "--action", "GET /busy", "--params", "{}"]
        began = time.monotonic()
        done = ghost(home, "act", *words, "--session-id", session.sid)
        assert time.monotonic() - began < 15
        if seconds == 1:
            assert (done.code, done.json["http_status"]) == (0, 200)
            assert times[1] - times[0] >= 1
        else:
            assert (len(times), done.json["http_status"]) == (1, 429)
    sight.upstream.append(f"GET /busy ×{len(times)}")
    sight.agent.append(f"{done.json['http_status']} after {len(times)} attempts")
