from __future__ import annotations

import pytest

from ghost_core.errors import ConfigError
from ghost_credentials.grammar import fault, is_token, require_value


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"a\rb",
        b"a\nb",
        b"a\x00b",
        b"a\tb",
        b"a\x7fb",
        "a\u0085b".encode(),
        "a\u2028b".encode(),
        "a\u2029b".encode(),
        b"\xff\x85",
        b" a",
        b"a ",
        "\u00a0a".encode(),
    ],
)
def test_what_breaks_or_frames_a_header_value_is_refused(value: bytes) -> None:
    with pytest.raises(ConfigError, match="the one: the secret ") as caught:
        require_value(value, subject="the one")
    assert caught.value.code == "credential.malformed"


@pytest.mark.parametrize("value", [b"a", b"a b", "äÅ".encode(), b"\xff\xfe", b"user:pw"])
def test_ordinary_values_pass(value: bytes) -> None:
    assert fault(value) is None
    require_value(value, subject="x")


def test_the_reason_does_not_repeat_the_value() -> None:
    assert "hunter2" not in str(fault(b"hunter2\n"))


def test_only_tokens_name_headers() -> None:
    assert is_token("X-Api-Key")
    assert not any(is_token(name) for name in ("", "X Api", "X:", "X\n", "é"))
