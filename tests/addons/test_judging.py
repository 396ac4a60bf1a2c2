"""Judging the head of a request: session, names, path, scope, and the rules as the files say now."""

from __future__ import annotations

from support.agent import raw_connect, secure_connect
from support.live import LiveProxy, LiveSession
from support.upstream import Upstream

POST = {"Content-Type": "application/json"}


def test_a_method_outside_the_scope_is_refused_with_a_way_to_allow_it(
    proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn(f"GET {up.url}/**")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("DELETE", "/echo", {"Host": up.authority})
    assert answer.status == 403
    assert b"scope.action" in answer.body
    assert b"a human can grant it" in answer.body
    assert up.requests == ()
    assert proxy.last(session).fields["code"] == 403


def test_the_path_that_is_judged_is_the_path_that_is_sent(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("GET", "/echo/%7euser/a%2fb?q=%7e", {"Host": up.authority})
    assert up.requests[0].target == b"/echo/~user/a%2Fb?q=%7e"


def test_a_broken_configuration_refuses_every_request(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
        proxy.home.append("[proxy.oops]\nx = 1")
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 500
    assert len(up.requests) == 1


def test_an_ended_session_is_refused_on_an_open_connection(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.request("GET", "/echo", {"Host": up.authority})
        proxy.evaporate(session)
        assert tunnel.closed()
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        assert tunnel.status == 407
    assert len(up.requests) == 1


def test_a_target_in_absolute_form_goes_on_in_origin_form(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", f"{up.url}/echo?x", {"Host": up.authority}, b"{}")
    assert answer.status == 200
    (record,) = up.requests
    assert record.head.startswith(b"POST /echo?x HTTP/1.1\r\n")
    assert record.all("host") == (up.authority.encode(),)


def test_a_tunnel_for_tls_carries_nothing_else(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with raw_connect(proxy.port, up.authority, session.auth) as tunnel:
        answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
    assert answer.status == 421
    assert up.connections == 0


def test_refusals_of_different_paths_are_different_entries(proxy: LiveProxy, up: Upstream) -> None:
    session = proxy.spawn(f"GET {up.url}/**")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        for path in ("/innocent", "/admin"):
            tunnel.request("DELETE", path, {"Host": up.authority})
    denials = proxy.wait_for(session, 2, "action.denied")
    assert [b"/innocent" in proxy.payload(each, "params") for each in denials] == [True, False]
    assert all("count" not in each.fields for each in denials)


def test_a_configuration_that_vanished_refuses_every_request(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200
        text = proxy.home.config.read_text("utf-8")
        proxy.home.config.write_text("", "utf-8")
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 500
        proxy.home.config.write_text(text, "utf-8")
        assert tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}").status == 200


def test_a_hook_does_not_see_a_line_that_the_upstream_does_not_get(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.home.hook(
        "demo_api_pre.py", "def validate(request):\n    assert 'if-match' in request['headers']\n"
    )
    lines = {"Host": up.authority, "If-Match": "1"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.request("POST", "/status/200", lines, b"{}").status == 200
        lines["Connection"] = "If-Match"
        assert tunnel.request("POST", "/status/200", lines, b"{}").status == 403
    assert [each.header("if-match") for each in up.requests] == [b"1"]
