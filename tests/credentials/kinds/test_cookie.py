from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.cookie import build

KIND = build(CredentialSettings(cookie="sid"), name="x")


def test_one_cookie_goes_and_the_clients_own_do_not() -> None:
    head = Head("GET", "/", ((b"Cookie", b"a=1"), (b"cookie", b"sid=own"), (b"accept", b"*/*")))
    assert KIND.inject(head, b"hunter2").headers == (
        (b"cookie", b"sid=hunter2"),
        (b"accept", b"*/*"),
    )


@pytest.mark.parametrize("secret", [b"a;b", b"a,b", b'a"b', b"a\\b"])
def test_a_secret_that_would_end_the_value_is_refused(secret: bytes) -> None:
    with pytest.raises(ConfigError, match="credential 'x'") as caught:
        KIND.inject(Head("GET", "/"), secret)
    assert caught.value.code == "credential.malformed"


def test_only_the_secret_can_be_echoed() -> None:
    assert KIND.exposures(b"hunter2") == (b"hunter2",)


@pytest.mark.parametrize("name", [None, "", "a b", "a=b", "a;b", "a\nb"])
def test_an_unfit_name_is_refused(name: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        build(CredentialSettings.model_construct(cookie=name), name="x")
    assert caught.value.code == "credential.cookie"
