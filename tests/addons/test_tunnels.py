"""Who the client is and where it may go, decided before anything is dialled."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from ghost_ledger.session.custody import Custody
from support.agent import Auth, Tunnel, raw_connect, secure_connect
from support.agent2 import Http2Client
from support.certs import Certs
from support.live import LiveProxy, LiveSession, live_proxy
from support.upstream import Upstream


@pytest.mark.parametrize(
    ("auth", "code"),
    [
        (None, b"session.missing"),
        (("gh_" + "0" * 32, "ghtoken_" + "A" * 80), b"session.token"),
        (("nobody", "x"), b"session.unknown"),
        ("Negotiate abc", b"session.scheme"),
        ("Basic ===", b"session.scheme"),
    ],
)
def test_a_client_without_a_live_session_gets_407_and_the_connection_ends(
    auth: Auth, code: bytes, proxy: LiveProxy, up: Upstream
) -> None:
    with raw_connect(proxy.port, up.authority, auth) as tunnel:
        assert tunnel.status == 407
        assert tunnel.connected is not None
        assert code in tunnel.connected.body
        assert tunnel.connected.header("connection") == b"close"
        assert tunnel.connected.header("proxy-authenticate") is not None
        assert tunnel.closed()
    assert up.connections == 0


def test_a_bearer_token_names_its_session_alone(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, f"Bearer {session.token}", ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200


def test_the_token_of_one_session_does_not_open_another(proxy: LiveProxy, up: Upstream) -> None:
    one, other = proxy.spawn("demo_api"), proxy.spawn("demo_api")
    with raw_connect(proxy.port, up.authority, (one.sid, other.token)) as tunnel:
        assert tunnel.status == 407


def test_wrong_credentials_decide_even_where_bare_clients_are_served(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    proxy.proxy.services.sessions.bare = session.sid
    with raw_connect(proxy.port, up.authority, ("gh_" + "0" * 32, "x")) as tunnel:
        assert tunnel.status == 407
    with secure_connect(proxy.port, up.authority, None, ca=proxy.ca) as tunnel:
        assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == 200


def test_a_host_that_no_scope_names_is_answered_inside_its_tunnel(
    proxy: LiveProxy, session: LiveSession
) -> None:
    with secure_connect(proxy.port, "elsewhere.test:443", session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("POST", "/v1/x", {"Host": "elsewhere.test"}, b"{}")
    assert answer.status == 403
    assert b"scope.host" in answer.body
    assert b"a human can grant it" in answer.body
    denial = proxy.last(session)
    assert (denial.type, denial.fields["host"]) == ("action.denied", "elsewhere.test")


def test_another_port_of_an_unnamed_host_is_refused_at_connect(
    proxy: LiveProxy, session: LiveSession
) -> None:
    with raw_connect(proxy.port, "elsewhere.test:8443", session.auth) as tunnel:
        assert tunnel.status == 403
        assert tunnel.connected is not None
        assert tunnel.connected.header("x-ghost-reason") == b"scope.host"


def test_a_private_address_is_not_dialled_unless_it_is_named(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with live_proxy(tmp_path, certs, up, proxy={"allow_private": []}) as live:
        session = live.spawn("demo_api")
        with raw_connect(live.port, up.authority, session.auth) as tunnel:
            assert tunnel.status == 403
            assert tunnel.connected is not None
            assert tunnel.connected.header("x-ghost-reason") == b"target.address"
        assert live.last(session).fields["stage"] == "address"
    assert up.connections == 0


def test_a_host_that_has_no_address_is_told_with_what_to_do(proxy: LiveProxy) -> None:
    session = proxy.spawn("GET https://no-such-host.invalid/**")
    with raw_connect(proxy.port, "no-such-host.invalid:443", session.auth) as tunnel:
        tunnel.tls(sni="no-such-host.invalid", ca=proxy.ca)
        answer = tunnel.request("GET", "/", {"Host": "no-such-host.invalid"})
    error = json.loads(answer.body)["error"]
    assert (answer.status, error["code"]) == (502, "target.unresolved")
    assert "'no-such-host.invalid'" in error["message"]
    assert "getent hosts no-such-host.invalid" in error["hint"]


def test_plain_http_passes_only_where_a_scope_spells_it(tmp_path: Path, certs: Certs) -> None:
    with Upstream() as plain:
        allowed = {"allow_private": [plain.authority]}
        with live_proxy(tmp_path, certs, proxy=allowed) as live:
            spelled = live.spawn(f"GET http://{plain.authority}/echo")
            unspelled = live.spawn(f"GET https://{plain.authority}/echo")
            assert _plain(live, plain, spelled) == 200
            assert _plain(live, plain, unspelled) == 403
        (record,) = plain.requests
        assert record.header("proxy-authorization") is None
        assert record.header("proxy-connection") is None


def _plain(live: LiveProxy, plain: Upstream, session: LiveSession) -> int:
    pair = base64.b64encode(":".join(session.auth).encode()).decode()
    with Tunnel(live.port) as client:
        headers = {
            "Host": plain.authority,
            "Proxy-Authorization": f"Basic {pair}",
            "Proxy-Connection": "keep-alive",
        }
        return client.request("GET", f"http://{plain.authority}/echo", headers).status


def test_an_https_target_in_absolute_form_is_refused(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    pair = base64.b64encode(":".join(session.auth).encode()).decode()
    with Tunnel(proxy.port) as client:
        headers = {"Host": up.authority, "Proxy-Authorization": f"Basic {pair}"}
        answer = client.request("GET", f"{up.url}/echo", headers)
    assert answer.status == 400
    assert b"target.scheme" in answer.body
    assert up.connections == 0


def test_a_second_session_of_the_same_process_keeps_its_own_scopes(
    proxy: LiveProxy, up: Upstream
) -> None:
    wide, narrow = proxy.spawn("demo_api"), proxy.spawn(f"GET {up.url}/status/*")
    for session, expected in ((wide, 200), (narrow, 403)):
        with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
            assert tunnel.request("GET", "/echo", {"Host": up.authority}).status == expected


def test_a_session_that_another_process_owns_is_told_as_busy(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with (
        Custody.acquire(session.sid),
        raw_connect(proxy.port, up.authority, session.auth) as tunnel,
    ):
        assert tunnel.status == 503
        assert tunnel.connected is not None
        assert b"session.owned" in tunnel.connected.body
    assert up.connections == 0


def test_a_plain_request_whose_names_disagree_is_refused(tmp_path: Path, certs: Certs) -> None:
    with Upstream() as plain:
        allowed = {"allow_private": [plain.authority]}
        with live_proxy(tmp_path, certs, proxy=allowed) as live:
            session = live.spawn(f"GET http://{plain.authority}/echo")
            pair = base64.b64encode(":".join(session.auth).encode()).decode()
            for hosts, status in ((["other.test"], 421), ([plain.authority] * 2, 400)):
                headers = [("Proxy-Authorization", f"Basic {pair}")]
                headers += [("Host", host) for host in hosts]
                with Tunnel(live.port) as client:
                    answer = client.request("GET", f"http://{plain.authority}/echo", headers)
                assert answer.status == status
        assert plain.connections == 0


def test_each_plain_request_of_a_connection_says_who_it_is(tmp_path: Path, certs: Certs) -> None:
    with Upstream() as plain:
        allowed = {"allow_private": [plain.authority]}
        with live_proxy(tmp_path, certs, proxy=allowed) as live:
            session = live.spawn(f"GET http://{plain.authority}/echo")
            pair = base64.b64encode(":".join(session.auth).encode()).decode()
            named = {"Host": plain.authority, "Proxy-Authorization": f"Basic {pair}"}
            url = f"http://{plain.authority}/echo"
            with Tunnel(live.port) as client:
                assert client.request("GET", url, named).status == 200
                assert client.request("GET", url, {"Host": plain.authority}).status == 407
        assert len(plain.requests) == 1


def test_a_private_address_on_the_usual_port_is_told_inside_the_tunnel(proxy: LiveProxy) -> None:
    session = proxy.spawn("GET https://localhost/**")
    with secure_connect(proxy.port, "localhost:443", session.auth, ca=proxy.ca) as tunnel:
        answer = tunnel.request("GET", "/", {"Host": "localhost"})
    assert (answer.status, b"target.address" in answer.body) == (403, True)


def test_a_tunnel_inside_tls_to_the_proxy_is_refused(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with Tunnel(proxy.port) as client:
        client.tls(sni="localhost", ca=proxy.ca)
        assert client.connect(up.authority, session.auth).status == 400
    assert up.connections == 0


def test_many_tunnels_in_one_http2_connection_are_refused(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with Upstream() as other:
        allowed = {"allow_private": [up.authority, other.authority]}
        with live_proxy(tmp_path, certs, up, proxy=allowed) as live:
            session = live.spawn("demo_api", f"GET {other.url.replace('http:', 'https:')}/**")
            with Tunnel(live.port) as client:
                client.tls(sni="localhost", ca=live.ca, alpn=("h2",))
                pair = base64.b64encode(":".join(session.auth).encode()).decode()
                auth = [("proxy-authorization", f"Basic {pair}")]
                browser = Http2Client(client)
                for place in (other.authority, up.authority):
                    assert browser.request("CONNECT", "/", place, auth).status == 400
        assert (up.connections, other.connections) == (0, 0)


def test_a_second_tunnel_through_an_open_one_is_refused(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        assert tunnel.connect(up.authority, session.auth).status == 400
    assert up.connections == 0
