"""Each kind of credential, several on one host, rotation under an open tunnel, a hundred calls at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ghost_core import db
from ghost_core.paths import home as ghost_home
from ghost_core.secret import SecretBytes
from ghost_credentials.vault import Vault
from support.agent import Answer, secure_connect
from support.certs import Certs
from support.exchange import Exchange
from support.live import LiveProxy, LiveSession, live_proxy
from support.packed import gzipped
from support.upstream import Upstream

SECRET = "987:real-Secret_4242"
HELD = "123:ghost-Held_0000"
MARK = "[credential demo]"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

type Table = Mapping[str, Any]


@contextmanager
def proxy_for(
    folder: Path, certs: Certs, up: Upstream, **demo: str
) -> Iterator[tuple[LiveProxy, LiveSession]]:
    """A proxy whose one credential is of this kind, and a session for its tool."""
    (folder / "secret").write_text(SECRET)
    credential = {"secret": f"file:{folder / 'secret'}", "placeholder": HELD, **demo}
    with live_proxy(folder, certs, up, credentials={"demo": credential}) as live:
        yield live, live.spawn("demo_api")


def call(
    live: LiveProxy, session: LiveSession, up: Upstream, *, path: str = "/echo", **more: Any
) -> Answer:
    headers, body = {"Host": up.authority, **more.get("headers", {})}, more.get("body", b"")
    with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
        return tunnel.request("POST", path, headers, body)


def test_a_secret_in_the_path(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    up.route(f"/bot{SECRET}/send", lambda each: each.reply(200, each.record.target))
    with proxy_for(tmp_path, certs, up, kind="path") as (live, session):
        answer = call(live, session, up, path=f"/bot{HELD}/send?x=1", headers=JSON, body=b"{}")
        assert (answer.status, answer.body) == (200, b"/bot[redacted by ghost]/send?x=1")
        intent = live.entries(session)[1]
        assert f"POST /bot{HELD}/send?x=1 ".encode() in live.payload(intent, "params")
        forwarded = live.payload(intent, "forwarded")
        assert b"POST /bot%5Bcredential%20demo%5D/send?x=1 " in forwarded
        missing = call(live, session, up, path="/send", body=b"{}")
        assert (missing.status, b"credential.place" in missing.body) == (403, True)
    (record,) = up.requests
    assert record.target == f"/bot{SECRET}/send?x=1".encode()


@pytest.mark.parametrize(
    ("field", "body", "expected"),
    [
        ("token", {"token": HELD, "n": 1}, {"token": SECRET, "n": 1}),
        ("/auth/token", {"auth": {"u": 1}}, {"auth": {"u": 1, "token": SECRET}}),
    ],
)
def test_a_secret_in_a_json_body(
    field: str, body: Table, expected: Table, tmp_path: Path, certs: Certs
) -> None:
    with (
        Upstream(certs) as up,
        proxy_for(tmp_path, certs, up, kind="body", body=field) as (live, session),
    ):
        answer = call(live, session, up, headers=JSON, body=json.dumps(body).encode())
        assert answer.status == 200
        assert SECRET.encode() not in answer.body
        intent = live.entries(session)[1]
        assert json.loads(live.payload(intent, "params").partition(b"\r\n\r\n")[2]) == body
        masked = live.payload(intent, "forwarded").partition(b"\r\n\r\n")[2]
        assert json.loads(masked.replace(MARK.encode(), SECRET.encode())) == expected
    (record,) = up.requests
    assert json.loads(record.body) == expected
    assert record.all("content-length") == (str(len(record.body)).encode(),)
    assert record.header("authorization") is None


def test_a_secret_in_a_form(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    with proxy_for(tmp_path, certs, up, kind="body", body="token") as (live, session):
        sent = f"a=%20&token={HELD}".encode()
        assert call(live, session, up, headers=FORM, body=sent).status == 200
    (record,) = up.requests
    assert record.body == b"a=%20&token=987%3Areal-Secret_4242"


def test_a_body_of_unknown_length_is_framed_anew(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    with proxy_for(tmp_path, certs, up, kind="body", body="token") as (live, session):
        lines = f"Host: {up.authority}\r\nContent-Type: application/json\r\n"
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            tunnel.send(
                f"POST /echo HTTP/1.1\r\n{lines}Transfer-Encoding: chunked\r\n\r\n".encode()
            )
            tunnel.send(b"2\r\n{}\r\n0\r\n\r\n")
            assert tunnel.answer().status == 200
    (record,) = up.requests
    assert json.loads(record.body) == {"token": SECRET}
    assert record.all("content-length") == (str(len(record.body)).encode(),)
    assert record.header("transfer-encoding") is None


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/plain"}, b"{}", 415),
        ({**JSON, "Content-Encoding": "gzip"}, b"{}", 415),
        (JSON, b"[]", 400),
        (JSON, b'{"token":1,"token":2}', 400),
        (JSON, b"", 400),
    ],
)
def test_a_body_that_cannot_be_filled_is_refused(
    headers: dict[str, str], body: bytes, status: int, tmp_path: Path, certs: Certs
) -> None:
    with (
        Upstream(certs) as up,
        proxy_for(tmp_path, certs, up, kind="body", body="token") as (live, session),
    ):
        assert call(live, session, up, headers=headers, body=body).status == status
        assert live.last(session).type == "action.denied"
        assert up.connections == 0


def test_a_coded_body_is_filled_decoded(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    with proxy_for(tmp_path, certs, up, kind="body", body="token") as (live, session):
        lines = {**JSON, "Content-Encoding": "gzip"}
        assert call(live, session, up, headers=lines, body=gzipped(b"{}")).status == 200
    (record,) = up.requests
    assert json.loads(record.body) == {"token": SECRET}
    assert record.header("content-encoding") is None


def test_a_secret_in_a_cookie(tmp_path: Path, certs: Certs, up: Upstream) -> None:
    with proxy_for(tmp_path, certs, up, kind="cookie", cookie="sid") as (live, session):
        answer = call(live, session, up, headers={"Cookie": "own=1; sid=mine"}, body=b"{}")
        assert SECRET.encode() not in answer.body
        forwarded = live.payload(live.entries(session)[1], "forwarded")
        assert f"cookie: sid={MARK}\r\n".encode() in forwarded
    (record,) = up.requests
    assert record.all("cookie") == (f"sid={SECRET}".encode(),)


def bearer(folder: Path, name: str, *hosts: str) -> dict[str, Any]:
    """A credential with a secret of its own, in a file."""
    (folder / name).write_text(f"secret-of-{name}-4242")
    return {"kind": "bearer", "secret": f"file:{folder / name}", "hosts": list(hosts)}


def test_of_two_credentials_on_one_host_each_has_its_paths(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    both = {
        "demo": bearer(tmp_path, "whole", up.authority),
        "v1": bearer(tmp_path, "v1", f"{up.authority}/v1/**"),
    }
    with live_proxy(tmp_path, certs, up, credentials=both) as live:
        session = live.spawn(f"POST {up.url}/**")
        statuses = [
            call(live, session, up, path=path, body=b"{}").status
            for path in ("/v1/x", "/v2/x", "/v1", "/v1%2Fx")
        ]
        assert statuses == [404, 404, 404, 403]
        for path in ("/v1%2Fx", "/%2Fv1/x", "/%2576%31/x", "/a%2F..%2Fv1", "/v1%2F%2Fx"):
            answer = call(live, session, up, path=path, body=b"{}")
            assert answer.status in (400, 403), path
        assert b"'demo' and 'v1'" in call(live, session, up, path="/%2Fv1/x", body=b"{}").body
        used = [
            each.fields.get("credential")
            for each in live.entries(session)
            if each.type == "action.intent"
        ]
    assert used == ["v1", "demo", "v1"]
    assert [each.header("authorization") for each in up.requests] == [
        b"Bearer secret-of-v1-4242",
        b"Bearer secret-of-whole-4242",
        b"Bearer secret-of-v1-4242",
    ]


def test_a_placeholder_of_another_path_of_the_host_is_refused(
    tmp_path: Path, certs: Certs, up: Upstream
) -> None:
    both = {
        "demo": bearer(tmp_path, "whole", f"{up.authority}/v2/**"),
        "v1": bearer(tmp_path, "v1", f"{up.authority}/v1/**"),
    }
    with live_proxy(tmp_path, certs, up, credentials=both) as live:
        session = live.spawn(f"POST {up.url}/**")
        headers = {"Authorization": "Bearer ghost_v1_placeholder"}
        answer = call(live, session, up, path="/v2/x", headers=headers, body=b"{}")
        assert (answer.status, b"credential.stray" in answer.body) == (403, True)
    assert up.requests == ()


def places(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, tuple[str, Callable[[str | None], None]]]:
    """Where a secret can lie, and how it is changed there (None takes it away)."""

    def file(value: str | None) -> None:
        path = folder / "rotated"
        path.unlink() if value is None else path.write_text(value)

    def env(value: str | None) -> None:
        if value is None:
            monkeypatch.delenv("ROTATED_KEY")
        else:
            monkeypatch.setenv("ROTATED_KEY", value)

    def vault(value: str | None) -> None:
        engine = db.engine(f"sqlite:///{ghost_home().root}/ghost.db")
        try:
            held = Vault(ghost_home(), engine)
            held.remove("rotated") if value is None else held.put(
                "rotated", SecretBytes(value.encode())
            )
        finally:
            engine.dispose()

    return {
        "file": (f"file:{folder / 'rotated'}", file),
        "env": ("env:ROTATED_KEY", env),
        "vault": ("vault:rotated", vault),
    }


@pytest.mark.parametrize("place", ["file", "env", "vault"])
def test_a_rotated_secret_holds_at_the_next_call_and_a_removed_one_refuses(
    place: str, tmp_path: Path, certs: Certs, up: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference, change = places(tmp_path, monkeypatch)[place]
    credential = {"demo": {"kind": "bearer", "secret": reference, "hosts": [up.authority]}}
    with live_proxy(tmp_path, certs, up, credentials=credential) as live:
        session = live.spawn("demo_api")
        with secure_connect(live.port, up.authority, session.auth, ca=live.ca) as tunnel:
            for value in ("first-secret-4242", "second-secret-4242", None):
                change(value)
                answer = tunnel.request("POST", "/echo", {"Host": up.authority}, b"{}")
                assert answer.status == (200 if value else 500)
                assert b"-secret-4242" not in answer.body
    sent = [each.header("authorization") for each in up.requests]
    assert sent == [b"Bearer first-secret-4242", b"Bearer second-secret-4242"]


def test_a_hundred_calls_at_once_share_nothing(tmp_path: Path, certs: Certs) -> None:
    count, hosts, paths = 100, 2, 5
    together = threading.Barrier(count, timeout=20)

    def wait(exchange: Exchange) -> None:
        """Answer what came, when all are here."""
        together.wait()
        exchange.reply(200, exchange.record.header("authorization") or b"")

    with ExitStack() as stack:
        ups = [stack.enter_context(Upstream(certs)) for _ in range(hosts)]
        names = {(host, path): f"c{host}{path}" for host in range(hosts) for path in range(paths)}
        table = {
            name: bearer(tmp_path, name, f"{ups[host].authority}/p{path}/**")
            for (host, path), name in names.items()
        }
        for each in ups:
            for number in range(count):
                each.route(f"/p{number % paths}/{number}", wait)
        allowed = {"allow_private": [each.authority for each in ups]}
        table["demo"] = bearer(tmp_path, "demo", "unused.example")
        live = stack.enter_context(
            live_proxy(tmp_path, certs, ups[0], credentials=table, proxy=allowed)
        )
        sessions = [live.spawn(*(f"POST {each.url}/**" for each in ups)) for _ in range(4)]
        tunnels = []
        for number in range(count):
            at = ups[number % hosts].authority
            auth = sessions[number % 4].auth
            tunnels.append(stack.enter_context(secure_connect(live.port, at, auth, ca=live.ca)))
        for number, tunnel in enumerate(tunnels):
            body = f"call {number}".encode()
            path = f"/p{number % paths}/{number}"
            tunnel.begin("POST", path, {"Host": ups[number % hosts].authority}, body)
        answers = [tunnel.answer() for tunnel in tunnels]
    assert {answer.body for answer in answers} == {b"Bearer [redacted by ghost]"}
    seen = 0
    for host, each in enumerate(ups):
        for record in each.requests:
            number = int(record.path.rpartition("/")[2])
            name = names[host, number % paths]
            assert record.header("authorization") == f"Bearer secret-of-{name}-4242".encode()
            assert record.body == f"call {number}".encode()
            seen += 1
    assert seen == count
