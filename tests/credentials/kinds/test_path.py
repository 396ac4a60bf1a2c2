from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError, DeniedError
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.path import build

KIND = build(CredentialSettings(kind="path", placeholder="123:GHOST_held"), name="x")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/bot123:GHOST_held/send", "/bot9:ab-_/send"),
        ("/bot123%3AGHOST_held/send", "/bot9:ab-_/send"),
        ("/123:GHOST_held", "/9:ab-_"),
        (
            "/bot123:GHOST_held/send?chat=%20&k=123:GHOST_held",
            "/bot9:ab-_/send?chat=%20&k=123:GHOST_held",
        ),
    ],
)
def test_the_secret_takes_the_place_in_the_path_alone(path: str, expected: str) -> None:
    assert KIND.inject(Head("POST", path), b"9:ab-_").path == expected


def test_the_secret_is_percent_encoded() -> None:
    found = KIND.inject(Head("POST", "/a/123:GHOST_held/b"), "a%b?c#d;e\u00e9".encode())
    assert found.path == "/a/a%25b%3Fc%23d%3Be%C3%A9/b"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/send?k=123:GHOST_held",
        "/123:GHOST_held/123:GHOST_held",
        "/123:GHOST_held/123%3AGHOST_held",
    ],
)
def test_the_placeholder_stands_once_in_the_path(path: str) -> None:
    with pytest.raises(DeniedError, match="credential 'x'") as caught:
        KIND.inject(Head("POST", path), b"hunter2")
    assert caught.value.code == "credential.place"


@pytest.mark.parametrize("secret", [b"a/b", b"a\\b", b".", b".."])
def test_a_secret_that_would_move_in_the_path_is_refused(secret: bytes) -> None:
    with pytest.raises(ConfigError, match="credential 'x'") as caught:
        KIND.inject(Head("POST", "/a/123:GHOST_held/b"), secret)
    assert caught.value.code == "credential.malformed"


def test_only_the_secret_can_be_echoed() -> None:
    assert KIND.exposures(b"hunter2") == (b"hunter2",)


def test_without_a_placeholder_one_is_made_of_the_name() -> None:
    assert build(CredentialSettings(kind="path"), name="x").placeholder == b"ghost_x_placeholder"


@pytest.mark.parametrize("text", ["a/placeholder", "short", "with a blank"])
def test_an_unfit_placeholder_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(CredentialSettings(kind="path", placeholder=text), name="x")
    assert caught.value.code == "credential.placeholder"
