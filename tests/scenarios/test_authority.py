"""Where a call goes: one place by every name it is given, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from support.agent import Tunnel, raw_connect
from support.agent2 import Http2Client, StreamResetError
from support.board import scenario
from support.certs import Certs, make_certs
from support.home import PLACEHOLDER, SECRET
from support.scene import Scene
from support.upstream import Upstream

PROTOCOLS = pytest.mark.parametrize("alpn", ["http/1.1", "h2"])


@pytest.fixture(autouse=True)
def _stays_at_home(foreign: Upstream) -> Iterator[None]:
    """Whatever is sent, the foreign upstream never sees the secret."""
    yield
    assert not any(SECRET.encode() in record.head for record in foreign.requests)


def both(scene: Scene, foreign: Upstream) -> None:
    """Let the session reach both upstreams."""
    scene.session = scene.spawn("demo_api", f"* {foreign.url}/**")


TWO_HOSTS = scenario("two-hosts", 1, "a tunnel to one host, in it a request for another one")


@TWO_HOSTS
@PROTOCOLS
@pytest.mark.parametrize("bound", [True, False], ids=["from-bound", "from-foreign"])
def test_a_request_for_another_host_than_its_tunnel_is_refused(
    alpn: str, bound: bool, scene: Scene, foreign: Upstream
) -> None:
    both(scene, foreign)
    before = foreign.connections
    tunnel, inside = scene.up.authority, foreign.authority
    if not bound:
        tunnel, inside = inside, tunnel
    answer = scene.ask(headers={"Host": inside}, body=b"{}", alpn=alpn, authority=tunnel)
    scene.refused(answer, 421, "target.mismatch")
    assert foreign.connections == before


@TWO_HOSTS
@pytest.mark.parametrize("sni", ["foreign.test", None], ids=["another", "none"])
def test_a_tunnel_with_another_server_name_is_refused(sni: str | None, scene: Scene) -> None:
    with scene.tunnel(sni=sni) as tunnel:
        answer = scene.send(tunnel, body=b"{}")
    scene.refused(answer, 421, "target.mismatch")


@TWO_HOSTS
@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "x@localhost"])
def test_a_host_line_that_names_another_port_address_or_user_is_refused(
    host: str, scene: Scene
) -> None:
    answer = scene.ask(headers={"Host": host}, body=b"{}")
    assert answer.status in (400, 421)
    scene.untouched()
    assert scene.denials()


@TWO_HOSTS
def test_a_whole_url_inside_a_tunnel_leads_nowhere_else(scene: Scene, foreign: Upstream) -> None:
    both(scene, foreign)
    before = foreign.connections
    answer = scene.ask("GET", f"{foreign.url}/echo", {"Host": foreign.authority})
    assert answer.status in (400, 421)
    scene.untouched()
    assert foreign.connections == before


LINES = scenario("two-host-lines", 1, "two Host lines, or :authority and other host fields")


@LINES
@pytest.mark.parametrize("order", ["foreign-first", "bound-first", "equal"])
def test_two_host_lines_are_malformed(order: str, scene: Scene) -> None:
    own, other = scene.up.authority, "foreign.test"
    hosts = {"foreign-first": (other, own), "bound-first": (own, other), "equal": (own, own)}
    answer = scene.ask(headers=[("Host", host) for host in hosts[order]], body=b"{}")
    assert answer.status == 400
    assert scene.arrived == ()


@LINES
@pytest.mark.parametrize("hosts", [["foreign.test"], ["foreign.test", "own"], ["own", "own"]])
def test_an_authority_with_other_host_fields_is_refused(hosts: list[str], scene: Scene) -> None:
    own = scene.up.authority
    lines = [("host", own if host == "own" else host) for host in hosts]
    with scene.tunnel(alpn="h2") as tunnel:
        try:
            answer = scene.hear(Http2Client(tunnel).request("POST", "/echo", own, lines, b"{}"))
        except StreamResetError as error:
            scene.sight.agent.append(f"reset {error.code}")
        else:
            assert answer.status in (400, 421)
    scene.untouched()


ODD_HEADS = {
    "scheme-odd": [(":method", "POST"), (":scheme", "ftp"), (":authority", "OWN"), (":path", "/echo")],
    "no-authority": [(":method", "POST"), (":scheme", "https"), (":path", "/echo")],
    "host-only-foreign": [
        (":method", "POST"), (":scheme", "https"), (":path", "/echo"), ("host", "foreign.test"),
    ],
    "authority-with-user": [
        (":method", "POST"), (":scheme", "https"), (":authority", "u:p@OWN"), (":path", "/echo"),
    ],
    "authority-empty": [(":method", "POST"), (":scheme", "https"), (":authority", ""), (":path", "/echo")],
    "path-is-a-url": [
        (":method", "POST"), (":scheme", "https"), (":authority", "OWN"),
        (":path", "https://foreign.test/echo"),
    ],
    "path-with-space": [
        (":method", "POST"), (":scheme", "https"), (":authority", "OWN"),
        (":path", "/echo HTTP/1.1\r\nHost: foreign.test"),
    ],
    "path-empty": [(":method", "POST"), (":scheme", "https"), (":authority", "OWN"), (":path", "")],
    "path-star": [(":method", "OPTIONS"), (":scheme", "https"), (":authority", "OWN"), (":path", "*")],
    "method-with-space": [
        (":method", "POST /admin HTTP/1.1"), (":scheme", "https"), (":authority", "OWN"),
        (":path", "/echo"),
    ],
    "connect-inside": [(":method", "CONNECT"), (":authority", "foreign.test:443")],
    "extended-connect": [
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"),
        (":authority", "OWN"), (":path", "/ws"),
    ],
}  # fmt: skip


@scenario("odd-h2-heads", 1, "HTTP/2 heads whose scheme, authority, path or method is another one")
@pytest.mark.parametrize("name", ODD_HEADS)
def test_an_http_2_head_that_is_not_plain_is_refused(name: str, scene: Scene) -> None:
    own = scene.up.authority
    head = [(key, value.replace("OWN", own)) for key, value in ODD_HEADS[name]]
    with scene.tunnel(alpn="h2") as tunnel:
        client = Http2Client(tunnel)
        stream = client.state.get_next_available_stream_id()
        client.state.send_headers(stream, head, end_stream=True)
        client.flush()
        try:
            answer = scene.hear(client.answer(stream))
        except (StreamResetError, EOFError, OSError):
            scene.sight.agent.append("reset")
        else:
            assert answer.status in (400, 403, 421), answer
    scene.untouched()


@scenario("host-spellings", 1, "the bound host in capitals, with a final dot, with its port")
@pytest.mark.parametrize("spelling", ["LOCALHOST", "LocalHost.", "localhost."])
def test_every_spelling_of_the_bound_host_is_one_host(spelling: str, scene: Scene) -> None:
    port = scene.up.port
    with scene.connect(f"{spelling}:{port}") as tunnel:
        tunnel.tls(sni="localhost", ca=scene.proxy.ca)
        assert scene.send(tunnel, "GET", headers={"Host": f"{spelling}:{port}"}).status == 200
    (record,) = scene.arrived
    assert record.header("host") == scene.up.authority.encode()
    assert record.all("authorization") == (f"Bearer {SECRET}".encode(),)


@scenario("host-look-alikes", 1, "hosts that look like, begin, end or wrap the bound one")
@pytest.mark.parametrize(
    "host",
    [
        "localhost.foreign.test",
        "foreign-localhost",
        "localhost@foreign.test",
        "foreign.test#localhost",
        "foreign.test/localhost",
        "loc\u0430lhost",
        "local\u200bhost",
        "\uff4cocalhost",
        "localhost\u3002",
        "xn--localhost-",
        "localhost\x00.foreign.test",
        "%6cocalhost",
        "*.localhost",
    ],
)
def test_a_host_that_only_looks_like_the_bound_one_is_refused(host: str, scene: Scene) -> None:
    lines = [f"CONNECT {host}:{scene.up.port} HTTP/1.1", f"Host: {host}:{scene.up.port}"]
    with Tunnel(scene.proxy.port) as client:
        client.send("\r\n".join([*lines, f"Proxy-Authorization: {scene.basic}", "", ""]).encode())
        answer = scene.hear(client.answer("CONNECT"))
    assert answer.status in (400, 403)
    scene.untouched()


@scenario("address-spellings", 1, "loopback as a number, in hex, octal, short or mapped form")
@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
)
def test_an_address_in_another_form_than_its_normal_one_is_refused(host: str, scene: Scene) -> None:
    scene.session = scene.spawn(f"* https://127.0.0.1:{scene.up.port}/**")
    with scene.connect(f"{host}:{scene.up.port}") as tunnel:
        scene.refused(tunnel.connected, 400, "target.host")


def answered(patch: pytest.MonkeyPatch, *answers: Sequence[str]) -> list[str]:
    """Let names resolve to these answers, one per question, the last for ever; return the questions."""
    asked: list[str] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        asked.append(f"{host}:{port}")
        return answers[min(len(asked), len(answers)) - 1]

    patch.setattr("ghost_hooks.address.system_resolver", resolver)
    return asked


@scenario("inner-addresses", 1, "an allowed name that resolves to an inner or metadata address")
@pytest.mark.parametrize(
    "addresses",
    [
        ["169.254.169.254"],
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["10.0.0.8"],
        ["100.64.0.1"],
        ["100.100.100.200"],
        ["fd00:ec2::254"],
        ["64:ff9b::a9fe:a9fe"],
        ["0.0.0.0"],
        ["93.184.215.14", "127.0.0.1"],
    ],
    ids=lambda each: each[-1],
)
def test_a_name_that_leads_inside_is_not_dialled(
    addresses: list[str], scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch, addresses)
    scene.session = scene.spawn(f"* https://api.test:{scene.up.port}/**")
    with scene.connect(f"api.test:{scene.up.port}") as tunnel:
        scene.refused(tunnel.connected, 403, "target.address")


@scenario("rebinding", 1, "a name that changes its address between check and connection")
def test_the_address_that_was_judged_is_the_one_that_is_dialled(
    staged, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"api.test:{up.port}"
    asked = answered(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    with staged(f"* https://{place}/**", proxy={"allow_private": [place]}) as scene:
        with scene.tunnel(place) as tunnel:
            for _ in range(2):
                assert scene.send(tunnel, headers={"Host": place}, body=b"{}").status == 200
        assert asked == [place]
        with scene.connect(place) as again:
            assert again.status == 403
        outcome = next(each for each in scene.entries() if each.type == "action.outcome")
        assert outcome.fields["peer"] == f"127.0.0.1:{up.port}"
    assert len(scene.arrived) == 2


@scenario("odd-ports", 1, "CONNECT to the ports of SSH, mail, DNS and databases")
@pytest.mark.parametrize("port", [22, 25, 53, 5432])
def test_a_port_that_no_scope_names_gets_no_tunnel(port: int, scene: Scene) -> None:
    with scene.connect(f"localhost:{port}") as tunnel:
        scene.refused(tunnel.connected, 403, "scope.host")


@scenario("not-http", 1, "bytes of SSH, of a database and of TLS without HTTP in an allowed tunnel")
@pytest.mark.parametrize("hello", [b"SSH-2.0-x\r\n\r\n", b"\x00\x00\x00\x08\x04\xd2\x16\x2f"])
@pytest.mark.parametrize("secured", [True, False], ids=["tls", "plain"])
def test_bytes_that_are_no_http_are_not_relayed(hello: bytes, secured: bool, scene: Scene) -> None:
    with scene.tunnel() if secured else scene.connect() as tunnel:
        tunnel.send(hello)
        tunnel.sock.settimeout(0.3)
        tunnel.closed()
    scene.sight.agent.append("nothing of the upstream")
    scene.untouched()


@scenario("own-door", 1, "the proxy asked to call itself, by every name of this machine")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
@pytest.mark.parametrize("way", ["tunnel", "plain"])
def test_a_call_to_the_proxy_itself_is_refused(way: str, host: str, scene: Scene) -> None:
    place = f"{host}:{scene.proxy.port}"
    if way == "tunnel":
        with scene.connect(place) as tunnel:
            scene.refused(tunnel.connected, 403, "scope.host")
        return
    with Tunnel(scene.proxy.port) as client:
        lines = {"Host": place, "Proxy-Authorization": scene.basic}
        scene.refused(scene.hear(client.request("GET", f"http://{place}/", lines)), 403)


@scenario("own-door-named", 1, "the same, by a session whose scope and addresses name the proxy")
@pytest.mark.parametrize("bare", [False, True], ids=["named-clients", "bare-clients"])
def test_a_proxy_that_is_named_as_a_target_does_not_call_itself(bare: bool, staged) -> None:
    with staged() as scene:
        place = f"127.0.0.1:{scene.proxy.port}"
        config = scene.proxy.home.config
        text = config.read_text("utf-8").replace(
            '"allow_private": [', f'"allow_private": ["{place}", '
        )
        config.write_text(
            text.replace('"allow_private" = [', f'"allow_private" = ["{place}", '), "utf-8"
        )
        scene.session = scene.spawn(f"* https://{place}/**", f"* http://{place}/**")
        if bare:
            scene.proxy.proxy.services.sessions.bare = scene.session.sid
        with Tunnel(scene.proxy.port) as client:
            lines = {"Host": place, "Proxy-Authorization": scene.basic}
            plain = scene.hear(client.request("POST", f"http://{place}/x", lines))
        scene.refused(plain, 403, "target.own")
        with scene.connect(place) as tunnel:
            scene.refused(tunnel.connected, 403, "target.own")


@scenario("clear-text", 1, "a plain http request for the bound host, with and without its scope")
@pytest.mark.parametrize("spelled", [True, False], ids=["in-scope", "out-of-scope"])
def test_no_credential_goes_over_clear_text(spelled: bool, staged, certs: Certs) -> None:
    with Upstream() as plain:
        bound = {"demo": {"hosts": [plain.authority]}}
        tools = {"demo_api": {"base_url": f"https://{plain.authority}"}}
        scheme = "http" if spelled else "https"
        scope = f"* {scheme}://{plain.authority}/**"
        with staged(scope, upstream=plain, credentials=bound, tools=tools) as scene:
            lines = {
                "Host": plain.authority,
                "Proxy-Authorization": scene.basic,
                "Proxy-Connection": "keep-alive",
            }
            with Tunnel(scene.proxy.port) as client:
                url = f"{plain.url}/echo"
                answer = scene.hear(client.request("POST", url, lines, b"{}"))
            assert answer.status == (200 if spelled else 403)
            for record in scene.arrived:
                assert SECRET.encode() not in record.head
                assert b"proxy-" not in record.head.lower()


@scenario("https-without-tunnel", 1, "an https URL in absolute form, on the proxy's own connection")
def test_an_https_url_needs_a_tunnel(scene: Scene) -> None:
    with Tunnel(scene.proxy.port) as client:
        lines = {"Host": scene.up.authority, "Proxy-Authorization": scene.basic}
        answer = scene.hear(client.request("GET", f"{scene.up.url}/echo", lines))
    scene.refused(answer, 400, "target.scheme")


@scenario("wrong-certificates", 1, "an upstream with an expired, foreign or misnamed certificate")
@pytest.mark.parametrize("fault", ["expired", "foreign", "misnamed"])
def test_an_upstream_that_cannot_prove_its_name_gets_no_request(
    fault: str, staged, certs: Certs, tmp_path_factory: pytest.TempPathFactory
) -> None:
    theirs, names, ended = certs, ("localhost",), fault == "expired"
    if fault == "foreign":
        theirs = make_certs(tmp_path_factory.mktemp("foreign"))
    if fault == "misnamed":
        names = ("other.test",)
    with (
        Upstream(theirs, names=names, ended=ended) as wrong,
        staged(upstream=wrong) as scene,
    ):
        answer = scene.ask(body=b"{}")
        assert answer.status == 502
        assert b"certificate could not be verified" in answer.body
        assert (b"proxy.upstream_ca" in answer.body) is (fault == "foreign")
        (outcome,) = scene.proxy.wait_for(scene.session, 1, "action.outcome")
        assert (outcome.fields["status"], outcome.fields["error"]) == ("failed", "upstream.tls")
        assert scene.arrived == ()


@scenario("no-scope", 1, "a session without any scope, and one for another host")
@pytest.mark.parametrize("scopes", [(), ("GET https://elsewhere.test/**",)], ids=["empty", "other"])
@PROTOCOLS
def test_what_no_scope_names_is_refused(alpn: str, scopes: tuple[str, ...], scene: Scene) -> None:
    scene.session = scene.spawn(*scopes)
    with scene.connect() as tunnel:
        scene.refused(tunnel.connected, 403, "scope.host")
    with scene.connect("localhost:443") as tunnel:
        tunnel.tls(sni="localhost", ca=scene.proxy.ca, alpn=(alpn,))
        answer = scene.send(tunnel, "GET", "/", {"Host": "localhost"}, alpn=alpn)
    scene.refused(answer, 403, "scope.host")


@scenario(
    "redirect", 1, "a redirect of the bound host to a foreign one, then the client goes there"
)
@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_redirect_takes_no_credential_along(status: int, scene: Scene, foreign: Upstream) -> None:
    both(scene, foreign)
    target = f"{foreign.url}/echo"
    scene.up.route("/away", lambda each: each.reply(status, b"", [("Location", target)]))
    away = scene.ask("POST", "/away", body=b"{}")
    assert (away.status, away.header("location")) == (status, target.encode())
    before = len(foreign.requests)
    inside = {"Host": foreign.authority}
    assert scene.ask(headers=inside, body=b"{}", authority=foreign.authority).status == 200
    assert foreign.requests[before].all("authorization") == ()
    held = {**inside, "X-Other": PLACEHOLDER}
    assert scene.ask(headers=held, body=b"{}", authority=foreign.authority).status == 403
    assert len(foreign.requests) == before + 1


@scenario("sibling-hosts", 1, "a credential for two hosts, a session whose scope names one of them")
def test_a_host_of_the_credential_needs_a_scope_of_its_own(
    staged, up: Upstream, foreign: Upstream
) -> None:
    before = foreign.connections
    hosts = [up.authority, foreign.authority]
    with staged(credentials={"demo": {"hosts": hosts}}) as scene:
        assert scene.ask(body=b"{}").status == 200
        with raw_connect(scene.proxy.port, foreign.authority, scene.session.auth) as tunnel:
            assert tunnel.connected is not None
            assert scene.hear(tunnel.connected).status == 403
        assert scene.denials()[-1].fields["error"] == "scope.host"
    assert foreign.connections == before
