from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError, DeniedError
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.body import Body, build

JSON = b"application/json"
FORM = b"application/x-www-form-urlencoded"


def kind(body: str) -> Body:
    return build(CredentialSettings(kind="body", body=body), name="x")


def head(media: bytes, *more: tuple[bytes, bytes]) -> Head:
    return Head("POST", "/", ((b"Content-Type", media), *more))


@pytest.mark.parametrize(
    ("field", "media", "body", "expected"),
    [
        ("token", JSON, b'{"token":"held", "n":1.0}', b'{"token":"s\\"\\u00e9", "n":1.0}'),
        ("token", b"application/vnd.x+json; charset=UTF-8", b"{}", b'{"token":"s\\"\\u00e9"}'),
        ("/auth/token", JSON, b'{"auth":{}}', b'{"auth":{"token":"s\\"\\u00e9"}}'),
        ("/a~1b/c~0d", JSON, b'{"a/b":{"c~d":0}}', b'{"a/b":{"c~d":"s\\"\\u00e9"}}'),
        ("token", FORM, b"a=1&token=held", b"a=1&token=s%22%C3%A9"),
        ("/token", FORM, b"", b"token=s%22%C3%A9"),
    ],
)
def test_the_field_gets_the_secret(field: str, media: bytes, body: bytes, expected: bytes) -> None:
    assert kind(field).fill(head(media), body, 's"\u00e9'.encode()) == expected


@pytest.mark.parametrize(
    "found",
    [
        Head("POST", "/"),
        head(b"text/plain"),
        head(b"multipart/form-data; boundary=x"),
        head(b"application/json; charset=utf-16"),
        head(b"application/json; charset=utf-8; charset=utf-16"),
        head(b"application/json; charset=utf-8, text/plain"),
        head(JSON, (b"content-type", FORM)),
        head(JSON, (b"content-encoding", b"gzip")),
    ],
)
def test_a_body_of_another_type_or_coding_is_refused(found: Head) -> None:
    with pytest.raises(DeniedError) as caught:
        kind("token").fill(found, b"{}", b"hunter2")
    assert caught.value.code == "credential.media"


def test_a_form_has_no_deep_fields() -> None:
    with pytest.raises(DeniedError) as caught:
        kind("/auth/token").fill(head(FORM), b"a=1", b"hunter2")
    assert caught.value.code == "credential.media"


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b'{"token":1,"token":2}'])
def test_a_body_without_one_place_is_refused(body: bytes) -> None:
    with pytest.raises(DeniedError) as caught:
        kind("token").fill(head(JSON), body, b"hunter2")
    assert caught.value.code == "credential.body"


def test_a_secret_that_is_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="credential 'x'") as caught:
        kind("token").fill(head(JSON), b"{}", b"hunter\xff")
    assert caught.value.code == "credential.malformed"


def test_the_head_stays_and_only_the_secret_can_be_echoed() -> None:
    found = head(JSON)
    assert kind("token").inject(found, b"hunter2") is found
    assert kind("token").exposures(b"hunter2") == (b"hunter2",)


@pytest.mark.parametrize(
    "place", [None, "", " ", "/", "/a//b", "/a~2", "a\nb", "a[", "a]", "[a]", " a"]
)
def test_an_unfit_place_is_refused(place: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        build(CredentialSettings.model_construct(body=place), name="x")
    assert caught.value.code == "credential.body"
