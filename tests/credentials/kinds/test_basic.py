from __future__ import annotations

import base64

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.basic import build


@pytest.mark.parametrize(
    ("username", "secret", "pair"),
    [
        ("git", b"hunter2", b"git:hunter2"),
        (None, b"u:p:q", b"u:p:q"),
        ("u", b"a:b", b"u:a:b"),
        (None, b"sk", b"sk:"),
    ],
)
def test_user_and_secret_are_one_base64_pair(
    username: str | None, secret: bytes, pair: bytes
) -> None:
    kind = build(CredentialSettings(username=username), name="x")
    head = kind.inject(Head("GET", "/", ((b"AUTHORIZATION", b"old"),)), secret)
    assert head.headers == ((b"authorization", b"Basic " + base64.b64encode(pair)),)


@pytest.mark.parametrize("username", ["a:b", "a\nb", " a"])
def test_an_unfit_username_is_refused(username: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build(CredentialSettings.model_construct(username=username), name="x")
    assert caught.value.code == "credential.username"


def test_the_pair_the_secret_and_the_password_can_be_echoed() -> None:
    assert build(CredentialSettings(username="git"), name="x").exposures(b"hunter2") == (
        b"git:hunter2",
        b"hunter2",
    )
    assert build(CredentialSettings(), name="x").exposures(b"u:pw") == (b"u:pw", b"pw")
    assert build(CredentialSettings(), name="x").exposures(b"sk") == (b"sk:", b"sk")
