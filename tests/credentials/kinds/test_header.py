from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.header import FORBIDDEN, build


def test_the_named_header_stands_once_in_lower_case() -> None:
    kind = build(CredentialSettings(header="X-Api-Key"), name="x")
    head = Head("GET", "/", ((b"X-API-KEY", b"a"), (b"x-api-key", b"b")))
    assert kind.inject(head, b"hunter2").headers == ((b"x-api-key", b"hunter2"),)
    assert kind.exposures(b"hunter2") == (b"hunter2",)


def test_a_prefix_stands_before_the_secret() -> None:
    kind = build(CredentialSettings(header="Authorization", prefix="Token "), name="x")
    assert kind.inject(Head("GET", "/"), b"hunter2").get("authorization") == b"Token hunter2"


@pytest.mark.parametrize(
    "name",
    [
        None,
        "X Key",
        "X-Key:",
        *sorted(name.decode() for name in FORBIDDEN),
        "Proxy-X",
        "Content_Length",
    ],
)
def test_an_unfit_header_is_refused(name: str | None) -> None:
    with pytest.raises(ConfigError, match="credential 'x'") as caught:
        build(CredentialSettings(header=name), name="x")
    assert caught.value.code == "credential.header"


@pytest.mark.parametrize("prefix", ["a\r\nb: ", " Token "])
def test_an_unfit_prefix_is_refused(prefix: str) -> None:
    settings = CredentialSettings.model_construct(header="X-Key", prefix=prefix)
    with pytest.raises(ConfigError) as caught:
        build(settings, name="x")
    assert caught.value.code == "credential.header"
