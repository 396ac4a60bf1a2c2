"""`ghost token verify`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ghost_cli.main import main
from ghost_core import ids
from ghost_core.clock import SystemClock
from ghost_ledger import wiretoken
from ghost_ledger.keys import SecretKey

HOST = "api.example.com"


@pytest.fixture
def key() -> SecretKey:
    return SecretKey.generate()


def issued(key: SecretKey, *, lives_s: int = 300) -> str:
    ends = SystemClock().now_us() // 1_000_000 + lives_s
    return wiretoken.issue(
        key, sid=ids.session_id(), action_id=ids.action_id(), host=HOST, expires_at_s=ends
    )


def verified(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = main(["token", "verify", *words, "--json"])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    document: dict[str, Any] = json.loads(captured.out)
    return document


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["token", "verify", *words, "--json"])
    return code, json.loads(capsys.readouterr().err)["code"]


@pytest.mark.parametrize("prefix", ["", "ed25519_public_"])
def test_a_token_is_genuine_under_the_key_that_spawn_printed(
    capsys: pytest.CaptureFixture[str], key: SecretKey, prefix: str
) -> None:
    named = f"{prefix}{key.public.hex()}"
    document = verified(capsys, "--key", named, "--host", HOST, issued(key))
    assert (document["verified"], document["host"], document["host_checked"]) == (True, HOST, True)
    assert document["session_id"].startswith("gh_")
    assert document["action_id"].startswith("act_")


def test_without_a_host_the_answer_says_that_it_was_not_checked(
    capsys: pytest.CaptureFixture[str], key: SecretKey
) -> None:
    token = issued(key)
    assert not verified(capsys, "--key", key.public.hex(), token)["host_checked"]
    assert main(["token", "verify", "--key", key.public.hex(), token]) == 0
    assert "the host was not checked" in capsys.readouterr().out


def test_a_token_for_another_host_is_refused(
    capsys: pytest.CaptureFixture[str], key: SecretKey
) -> None:
    words = ("--key", key.public.hex(), "--host", "evil.example", issued(key))
    assert refused(capsys, *words) == (5, "wire.host")


def test_an_ended_token_is_refused(capsys: pytest.CaptureFixture[str], key: SecretKey) -> None:
    words = ("--key", key.public.hex(), issued(key, lives_s=0))
    assert refused(capsys, *words) == (5, "wire.expired")


def test_a_token_of_another_key_is_broken_evidence(
    capsys: pytest.CaptureFixture[str], key: SecretKey
) -> None:
    words = ("--key", SecretKey.generate().public.hex(), issued(key))
    assert refused(capsys, *words) == (7, "ledger.signature")


@pytest.mark.parametrize(
    "token", ["", "x", "ghwire_", "ghwire_bnVsbA.AAAA", "ghwire_W10.AAAA", "a.b"]
)
def test_what_is_no_token_is_broken_evidence(
    capsys: pytest.CaptureFixture[str], key: SecretKey, token: str
) -> None:
    assert refused(capsys, "--key", key.public.hex(), token)[0] == 7


@pytest.mark.parametrize("named", ["", "ed25519_public_", "00", "zz" * 32, "ab" * 32 + "\n"])
def test_what_is_no_key_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], key: SecretKey, named: str
) -> None:
    assert refused(capsys, "--key", named, issued(key)) == (2, "usage.key")
