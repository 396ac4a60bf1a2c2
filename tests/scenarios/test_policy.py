"""What is judged is what is sent: paths, methods, and rules in any order."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack

import pytest

from support.agent import Tunnel
from support.agent2 import Http2Client
from support.board import scenario
from support.home import SECRET
from support.live import until
from support.scene import Scene

PROTOCOLS = pytest.mark.parametrize("alpn", ["http/1.1", "h2"])

ESCAPES = (
    "/public/../admin",
    "/public/..%2fadmin",
    "/public/..%5cadmin",
    "/public/%2e%2e/admin",
    "/public/%2E%2e%2Fadmin",
    "/public/.%2e/admin",
    "/public/%252e%252e/admin",
    "/public/..%253B/admin",
    "/public/%25c0%25ae%25c0%25ae/admin",
    "/public/%2525252525252e%2525252525252e/admin",
    "/public/%25%32%65%25%32%65/admin",
    "/public%2f..%2fadmin",
    "//admin",
    "//public/../admin",
    "/public//../admin",
    "/public/\\..\\admin",
    "/public\\..\\admin",
    "/public/..;/admin",
    "/public;x/../admin",
    "/public/%2e%2e;x/admin",
    "/public/./../admin",
    "/public/%c0%ae%c0%ae/admin",
    "/public/..%c0%afadmin",
    "/public/..%00/admin",
    "/public/a;v=1",
    "/public/..\tadmin",
    "/public/..#/admin",
    "/public/%u002e%u002e/admin",
    "/public/%%32%65%%32%65/admin",
    "/admin/../public/x/../../admin",
    "public/../admin",
)
PLAIN = {
    "/public/a": "/public/a",
    "/public/%7Euser": "/public/~user",
    "/public/a%2Fb": "/public/a%2Fb",
    "/public/a%2fb": "/public/a%2Fb",
    "/public/a.b..c": "/public/a.b..c",
    "/public/100%25": "/public/100%25",
    "/public/caf%C3%A9": "/public/caf%C3%A9",
    "/public/x?next=/../admin": "/public/x?next=/../admin",
}


@scenario("path-spellings", 1, "a path under /public/** that some servers read as /admin")
@PROTOCOLS
@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_can_be_read_as_another_is_refused(path: str, alpn: str, scene: Scene) -> None:
    scene.session = scene.spawn(f"GET {scene.up.url}/public/**")
    answer = scene.ask("GET", path, alpn=alpn)
    assert answer.status in (400, 403), answer.body
    scene.untouched()


@scenario(
    "path-one-form", 1, "equal spellings of an allowed path, a slash inside a segment among them"
)
@PROTOCOLS
@pytest.mark.parametrize("path", PLAIN)
def test_one_form_is_judged_and_sent(path: str, alpn: str, scene: Scene) -> None:
    scene.session = scene.spawn(f"GET {scene.up.url}/public/**")
    assert scene.ask("GET", path, alpn=alpn).status == 404  # the upstream's own answer
    (record,) = scene.arrived
    assert record.target.decode() == PLAIN[path]
    assert record.all("authorization") == (f"Bearer {SECRET}".encode(),)


@scenario("path-deny-spelled", 1, "a path that a deny rule names, in other cases and escapes")
@pytest.mark.parametrize(
    "path",
    [
        "/admin",
        "/admin/",
        "/%61dmin",
        "/admin/x",
        "/admin%2Fx",
        "/admin%2f",
        "/admin;x=1",
        "/admin;/x",
        "/ADMIN",
        "/Admin/x",
        "/aDMIN%2fx",
    ],
)
def test_a_deny_rule_holds_for_every_spelling(path: str, staged) -> None:
    with staged() as scene:
        scene.proxy.home.append(
            '[[rules]]\ndeny = { host = "*", method = "*", path = "/admin/**" }'
        )
        answer = scene.ask("POST", path, body=b"{}")
        assert answer.status in (400, 403)
        scene.untouched()


@scenario(
    "path-slow", 2, "a path that a pattern with two wildcards in a segment could try for ever"
)
@pytest.mark.parametrize("deny", ["/v1/*-*-*/end", "/v1/{name}-{verb}-{x}"])
def test_a_path_holds_up_nobody_by_the_pattern_that_judges_it(deny: str, staged) -> None:
    with staged() as scene:
        rule = f'[[rules]]\ndeny = {{ host = "*", method = "*", path = "{deny}" }}'
        scene.proxy.home.append(rule)
        began = time.monotonic()
        assert scene.ask("POST", "/v1/" + "-" * 30_000 + "/x", body=b"{}").status == 404
        assert time.monotonic() - began < 2


@scenario("refused-and-gone", 1, "refused calls whose agent leaves before it is told")
@pytest.mark.parametrize("way", ["leaves", "resets its stream", "ends its HTTP/2"])
@pytest.mark.parametrize("path", ["/admin/x", "/judged"])
def test_who_leaves_before_the_answer_hides_no_refusal(path: str, way: str, staged) -> None:
    rules = (
        '[[rules]]\ndeny = { host = "*", method = "*", path = "/admin/**" }\n'
        '[[rules]]\ndeny = { tool = "demo_api", when = "amount > 5" }'
    )
    with staged() as scene, ExitStack() as open_ones:
        scene.proxy.home.append(rules)
        for _ in range(5):
            tunnel = scene.tunnel(alpn="http/1.1" if way == "leaves" else "h2")
            open_ones.enter_context(tunnel)  # a close with bytes unread would throw the call away
            ask_and_leave(tunnel, scene.up.authority, way, path)
        until(lambda: sum(int(str(e.fields.get("count", 1))) for e in scene.denials()) == 5)
        scene.untouched()


def ask_and_leave(tunnel: Tunnel, host: str, way: str, path: str) -> None:
    """Send a call that is refused, and leave in the same breath."""
    body, kind = b'{"amount": 9}', "application/json"
    if way == "leaves":
        tunnel.begin("POST", path, {"Host": host, "Content-Type": kind}, body)
        tunnel.sock.shutdown(socket.SHUT_WR)
        return
    client = Http2Client(tunnel)
    stream = client.state.get_next_available_stream_id()
    head = [(":method", "POST"), (":scheme", "https"), (":authority", host), (":path", path)]
    client.state.send_headers(stream, [*head, ("content-type", kind)])
    client.state.send_data(stream, body, end_stream=True)
    if way == "resets its stream":
        client.state.reset_stream(stream)
    else:
        client.state.close_connection()
    client.flush()


@scenario("path-two-actions", 1, "a path of an allowed action that decodes to one not allowed")
@pytest.mark.parametrize(
    "path",
    [
        "/v1/admin%2Fusers",
        "/v1/x%3Aerase",
        "/v1/admin%2fusers",
        "/v1/x:ERASE",
        "/v1/Export",
        "/v1/export/",
        "/v1/EXPORT;x=1",
    ],
)
def test_a_path_that_is_two_actions_by_its_escapes_is_neither(path: str, staged) -> None:
    actions = {
        "any": {"method": "POST", "path": "/v1/**"},
        "export": {"method": "POST", "path": "/v1/export"},
        "users": {"method": "POST", "path": "/v1/admin/users"},
        "erase": {"method": "POST", "path": "/v1/{id}:erase"},
    }
    with staged("demo_api:any", clean=True, tools={"demo_api": {"actions": actions}}) as scene:
        scene.refused(scene.ask("POST", path, body=b"{}"), 403, "scope.action")
        assert scene.ask("POST", "/v1/a%2Fb", body=b"{}").status == 404


OVERRIDES = scenario("method-override", 1, "a POST that asks the server to read it as DELETE")


@OVERRIDES
@PROTOCOLS
@pytest.mark.parametrize(
    "name",
    [
        "X-HTTP-Method-Override",
        "X-Method-Override",
        "X-HTTP-Method",
        "x_http_method_override",
        "x.http~method.override",
    ],
)
def test_a_header_cannot_name_another_method(name: str, alpn: str, scene: Scene) -> None:
    scene.session = scene.spawn(f"POST {scene.up.url}/**")
    answer = scene.ask("POST", headers={name: "DELETE"}, body=b"{}", alpn=alpn)
    scene.refused(answer, 403, "request.method_override")


@OVERRIDES
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/echo?_method=DELETE", b"{}"),
        ("/echo?a=1&%5fmethod=delete", b"{}"),
        ("/echo", b"_method=DELETE"),
        ("/echo", b"a=1&_Method=DELETE"),
        ("/echo", b"a=1;_method=DELETE"),
        ("/echo", b".method=DELETE"),
        ("/echo?X-HTTP-Method-Override=DELETE", b""),
        ("/echo?_HttpMethod=DELETE", b""),
    ],
)
def test_neither_query_nor_form_can_name_another_method(
    path: str, body: bytes, scene: Scene
) -> None:
    scene.session = scene.spawn(f"POST {scene.up.url}/**")
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    scene.refused(scene.ask("POST", path, kind, body), 403, "request.method_override")


PART = "--b\r\nContent-Disposition: form-data;{name}\r\n\r\nDELETE\r\n--b--\r\n"


@OVERRIDES
@pytest.mark.parametrize("streamed", [False, True], ids=["held", "streamed"])
@pytest.mark.parametrize(
    "name",
    [
        ' name="_method"',
        " NAME=_method",
        ' filename="x"; name="_Method"',
        "\r\n name='_method'",
        ' name=".method"',
        ' name="[_method]"',
        " name*=utf-8''%5Fmethod",
        ' name="=?utf-8?Q?=5Fmethod?="',
    ],
)
def test_a_part_of_an_upload_cannot_name_another_method(
    name: str, streamed: bool, scene: Scene
) -> None:
    scene.session = scene.spawn(f"POST {scene.up.url}/**")
    body = PART.format(name=name).encode()
    lines = {"Host": scene.up.authority, "Content-Type": "multipart/form-data; boundary=b"}
    with scene.tunnel() as tunnel:
        if not streamed:
            answer = scene.send(tunnel, "POST", "/echo", lines, body)
            scene.refused(answer, 403, "request.method_override")
            return
        tunnel.begin("POST", "/echo", {**lines, "Transfer-Encoding": "chunked"})
        first, rest = body[:55], body[55:]
        tunnel.send(b"%x\r\n%s\r\n" % (len(first), first))
        tunnel.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(rest), rest))
        assert tunnel.closed()
    scene.sight.agent.append("cut")
    (outcome,) = scene.proxy.wait_for(scene.session, 1, "action.outcome")
    assert outcome.fields["ended"] == "aborted"
    assert "cut" in outcome.fields["flags"]
    assert not any(b"_method" in record.body.lower() for record in scene.arrived)
    assert not any(b"DELETE" in record.body for record in scene.arrived)
    assert {record.path for record in scene.arrived} <= {"/echo"}


@OVERRIDES
@pytest.mark.parametrize(
    ("kind", "pieces"),
    [
        ("multipart/form-data; boundary=b", (PART[: PART.index("{")] + " name=" + " " * 300, '"_method"\r\n\r\nDELETE')),
        ("multipart/form-data; boundary=b", (PART[: PART.index("{")] + " name" + "\t " * 300, "=_method\r\n\r\nDELETE")),
        ("", ("a=1&" + "[" * 300, "_method=DELETE")),
        ("", ("a=1&" + "%20" * 100 + "%5", "fmethod=DELETE")),
    ],
    ids=["blanks", "tabs", "brackets", "escapes"],
)  # fmt: skip
def test_what_a_lax_reader_passes_over_does_not_hide_another_method(
    kind: str, pieces: tuple[str, str], scene: Scene
) -> None:
    scene.session = scene.spawn(f"POST {scene.up.url}/**")
    lines = {"Host": scene.up.authority, "Transfer-Encoding": "chunked"}
    with scene.tunnel() as tunnel:
        tunnel.begin("POST", "/echo", lines | ({"Content-Type": kind} if kind else {}))
        before = scene.up.body_bytes
        for piece in pieces:
            tunnel.send(b"%x\r\n%s\r\n" % (len(piece), piece.encode()))
            until(lambda: scene.up.body_bytes > before)  # the first has gone on by itself
        tunnel.send(b"0\r\n\r\n")
        assert tunnel.closed()
    scene.sight.agent.append("cut")
    assert not any(b"DELETE" in record.body for record in scene.arrived)


@OVERRIDES
@pytest.mark.parametrize("framing", ["Content-Length: 14", "Transfer-Encoding: chunked"])
def test_a_body_without_a_type_cannot_name_another_method(framing: str, scene: Scene) -> None:
    body = b"_method=DELETE"
    sent = b"e\r\n" + body + b"\r\n0\r\n\r\n" if "chunked" in framing else body
    head = f"POST /echo HTTP/1.1\r\nHost: {scene.up.authority}\r\n{framing}\r\n\r\n"
    with scene.tunnel() as tunnel:
        tunnel.send(head.encode() + sent)
        if "chunked" in framing:
            assert tunnel.closed()
        else:
            scene.refused(scene.hear(tunnel.answer()), 403, "request.method_override")
    assert not any(b"DELETE" in record.body for record in scene.arrived)


@OVERRIDES
@pytest.mark.parametrize("charset", ["ibm037", "utf-16le"])
def test_a_charset_cannot_hide_another_method(charset: str, scene: Scene) -> None:
    kind = {"Content-Type": f"application/x-www-form-urlencoded; charset={charset}"}
    body = "_method=DELETE".encode("cp037" if charset == "ibm037" else charset)
    scene.refused(scene.ask("POST", "/echo", kind, body), 415, "params.encoding")


@OVERRIDES
@pytest.mark.parametrize("order", [1, -1])
def test_a_second_content_type_does_not_hide_a_form(order: int, scene: Scene) -> None:
    kinds = ["application/json", "application/x-www-form-urlencoded"][::order]
    answer = scene.ask(headers=[("Content-Type", kind) for kind in kinds], body=b"_method=DELETE")
    assert answer.status in (400, 403)
    scene.untouched()


@OVERRIDES
def test_a_rule_can_forbid_the_field_in_json(staged) -> None:
    rule = 'deny = { host = "localhost", method = "POST", when = "_method must exist" }'
    with staged() as scene:
        scene.proxy.home.append(f"[[rules]]\n{rule}")
        kind = {"Content-Type": "application/json"}
        named = scene.ask("POST", "/echo", kind, b'{"_method": "DELETE"}')
        scene.refused(named, 403, "rule.denied")
        assert scene.ask("POST", "/status/200", kind, b'{"a": 1}').status == 200


@OVERRIDES
@pytest.mark.parametrize("name", ["X-Original-URL", "X-Rewrite-URL"])
def test_a_header_cannot_name_another_path(name: str, scene: Scene) -> None:
    scene.session = scene.spawn(f"GET {scene.up.url}/public/**")
    answer = scene.ask("GET", "/public/x", {name: "/admin"})
    scene.refused(answer, 403, "request.path_override")


@OVERRIDES
@pytest.mark.parametrize("method", ["post", "PoSt", "POST\u00a0", "DELETE"])
def test_a_method_is_one_that_the_scope_names_letter_for_letter(method: str, scene: Scene) -> None:
    scene.session = scene.spawn(f"POST {scene.up.url}/**")
    head = f"{method} /echo HTTP/1.1\r\nHost: {scene.up.authority}\r\nContent-Length: 0\r\n\r\n"
    assert scene.raw(head.encode()).status in (400, 403)
    scene.untouched()


@scenario("deny-wins", 1, "a call that one scope allows and one rule denies, in both orders")
@pytest.mark.parametrize("first", ["deny", "scope"])
def test_a_denial_wins_in_any_order(first: str, staged) -> None:
    deny = '[[rules]]\ndeny = { host = "localhost", method = "POST", path = "/echo" }'
    other = '[[rules]]\ndeny = { host = "elsewhere.test", method = "*", path = "/**" }'
    with staged() as scene:
        rules = [deny, other] if first == "deny" else [other, deny]
        scopes = ["demo_api", f"POST {scene.up.url}/echo"]
        scene.session = scene.spawn(*(scopes if first == "deny" else scopes[::-1]))
        scene.proxy.home.append("\n".join(rules))
        scene.refused(scene.ask(body=b"{}"), 403, "rule.denied")
        assert scene.ask("POST", "/status/200", body=b"{}").status == 200


@scenario("rule-while-open", 2, "a rule and a credential's new host added while a tunnel is open")
def test_a_rule_holds_from_the_next_request_on_an_open_tunnel(staged) -> None:
    with staged() as scene, scene.tunnel() as tunnel:
        assert scene.send(tunnel, body=b"{}").status == 200
        scene.proxy.home.append('[[rules]]\ndeny = { host = "*", method = "*", path = "/echo" }')
        assert scene.send(tunnel, body=b"{}").status == 403
        assert scene.send(tunnel, "POST", "/status/200", body=b"{}").status == 200
        assert scene.denials()[-1].fields["error"] == "rule.denied"
    assert len(scene.arrived) == 2


@scenario("why-refused", 3, "calls that are refused at CONNECT and inside a tunnel")
def test_a_refusal_says_why_and_how_to_be_allowed(scene: Scene) -> None:
    with scene.connect("localhost:8443") as tunnel:
        assert tunnel.connected is not None
        assert tunnel.connected.header("x-ghost-reason") == b"scope.host"
        assert b"a human can grant it" in tunnel.connected.body
    scene.session = scene.spawn(f"GET {scene.up.url}/**")
    answer = scene.ask("DELETE", "/echo")
    scene.refused(answer, 403, "scope.action")
    for part in (
        scene.session.sid.encode(),
        b'"rule"',
        b'"action_id": "act_',
        b"a human can grant it",
    ):
        assert part in answer.body
