"""The one place that puts a secret on the wire."""

from __future__ import annotations

from mitmproxy import http

from ghost_addons import inject
from ghost_core.secret import SecretBytes
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.binding import Credential
from ghost_credentials.head import Head

SECRET = SecretBytes(b"sk_live_4242")


def credential(**fields: object) -> Credential:
    section = {"secret": "env:KEY", "hosts": ["api.test"], **fields}
    return Credential.from_settings("demo", CredentialSettings.model_validate(section))


def head(*headers: tuple[bytes, bytes]) -> Head:
    return Head("POST", "/x", headers)


def test_the_secret_and_our_token_are_there_exactly_once() -> None:
    base = head((b"authorization", b"Bearer one"), (b"Authorization", b"two"))
    found = inject.injected(base, credential=credential(), secret=SECRET, wire_token=b"ghwire_1")
    assert found.values("authorization") == (b"Bearer sk_live_4242",)
    assert found.values("x-ghost-token") == (b"ghwire_1",)


def test_without_a_credential_nothing_is_injected() -> None:
    base = head((b"accept", b"*/*"))
    assert inject.injected(base, credential=None, secret=None, wire_token=b"") == base
    assert inject.injected(base, credential=credential(), secret=None, wire_token=b"") == base


def test_the_record_gets_a_mark_in_the_place_of_the_secret() -> None:
    held = credential()
    found = inject.injected(head(), credential=held, secret=inject.mark(held), wire_token=b"")
    assert found.get("authorization") == b"Bearer [credential demo]"


def test_what_the_client_brought_for_itself_does_not_go_on() -> None:
    base = head((b"Cookie", b"a=1"), (b"X-Ghost-Token", b"t"), (b"Accept", b"*/*"))
    found = inject.stripped(base, credential(), websocket=False)
    assert found.headers == ((b"Accept", b"*/*"), (b"accept-encoding", b"identity"))


def test_only_codings_that_can_be_undone_are_asked_for() -> None:
    base = head((b"Accept-Encoding", b"gzip, compress, x-odd;q=1"))
    asked = inject.stripped(base, None, websocket=False).values("accept-encoding")
    assert len(asked) == 1
    assert b"gzip" in asked[0]
    assert b"compress" not in asked[0]
    assert b"x-odd" not in asked[0]


def test_a_stand_in_stays_where_it_is_to_be_replaced() -> None:
    held = credential(kind="placeholder", placeholder="sk_ghost_4242424242424242")
    base = head((b"authorization", b"Token sk_ghost_4242424242424242"), (b"cookie", b"a=1"))
    stripped = inject.stripped(base, held, websocket=False)
    found = inject.injected(stripped, credential=held, secret=SECRET, wire_token=b"")
    assert found.get("authorization") == b"Token sk_live_4242"
    assert found.get("cookie") is None


def test_head_and_request_say_the_same() -> None:
    request = http.Request.make("PUT", "https://api.test/raw", headers={"Accept": "*/*"})
    found = inject.head_of(request, path="/canonical?a=1")
    assert (found.method, found.path, found.get("accept")) == ("PUT", "/canonical?a=1", b"*/*")
    inject.put(request, inject.Outgoing(found.with_header("x-one", b"1"), None))
    assert request.path == "/canonical?a=1"
    assert request.headers.fields[-1] == (b"x-one", b"1")


def test_a_record_names_the_clients_credentials_without_their_values() -> None:
    lines = [(b"Cookie", b"a=1"), (b"X_Api_Key", b"k"), (b"X-Ghost-Token", b"t"), (b"A", b"b")]
    assert list(inject.masked(lines)) == [
        (b"Cookie", b"[withheld]"),
        (b"X_Api_Key", b"[withheld]"),
        (b"X-Ghost-Token", b"[withheld]"),
        (b"A", b"b"),
    ]
