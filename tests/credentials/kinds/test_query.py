from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError
from ghost_core.settings_tables import CredentialSettings
from ghost_credentials.head import Head
from ghost_credentials.kinds.query import build

KIND = build(CredentialSettings(query="api_key"), name="x")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1", "/v1?api_key=a%2Fb%26c"),
        ("/v1?", "/v1?api_key=a%2Fb%26c"),
        ("/v1?q=1&&r=%20", "/v1?q=1&&r=%20&api_key=a%2Fb%26c"),
        ("/v1?api_key=mine&q=1&api%5Fkey=two&api_key", "/v1?api_key=a%2Fb%26c&q=1"),
        ("/v1?q=1&api_key=mine&z=?", "/v1?q=1&api_key=a%2Fb%26c&z=?"),
    ],
)
def test_the_parameter_stands_once_and_the_rest_is_untouched(path: str, expected: str) -> None:
    assert KIND.inject(Head("GET", path), b"a/b&c").path == expected


def test_only_the_secret_can_be_echoed() -> None:
    assert KIND.exposures(b"hunter2") == (b"hunter2",)


@pytest.mark.parametrize("name", [None, "a\nb"])
def test_an_unfit_parameter_is_refused(name: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        build(CredentialSettings.model_construct(query=name), name="x")
    assert caught.value.code == "credential.query"
