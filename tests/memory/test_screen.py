"""The secret detector: what it takes out, and what it must leave."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory.limits import fit
from ghost_memory.screen import _FORMS, MARK, _without_sure, looks_random, screen

LETTERS = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\nMIIE{LETTERS}\n{LETTERS}\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "pem": (PEM, PEM),
    "pem without an end": (PEM.partition("-----END")[0], LETTERS),
    "aws": ("AKIA" + "Q7RZ" * 4, "AKIA" + "Q7RZ" * 4),
    "github": (f"token ghp_{LETTERS}", f"ghp_{LETTERS}"),
    "github pat": (f"github_pat_{LETTERS}{LETTERS}", f"github_pat_{LETTERS}{LETTERS}"),
    "gitlab": ("glpat-" + LETTERS[:20], "glpat-" + LETTERS[:20]),
    "slack": ("xoxb-" + LETTERS, "xoxb-" + LETTERS),
    "stripe": ("key sk_" + f"live_{LETTERS}", "sk_" + f"live_{LETTERS}"),
    "openai": ("sk-proj-" + LETTERS, "sk-proj-" + LETTERS),
    "google": ("AIza" + LETTERS + "abc", "AIza" + LETTERS + "abc"),
    "npm": ("npm_" + LETTERS + "abcd", "npm_" + LETTERS + "abcd"),
    "jwt": ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4", "SflKxwRJSMeKKF2QT4"),
    "bearer": (f"Authorization: Bearer {LETTERS}", LETTERS),
    "assigned": (f'api_key = "{LETTERS}"', LETTERS),
    "in yaml": (f"  client_secret: {LETTERS}", LETTERS),
    "in json": (f'{{"password": "{LETTERS}"}}', LETTERS),
    "said": (f"the password is {LETTERS}", LETTERS),
    "in an address": ("postgres://app:hunter2@db.example/app", "hunter2"),
    "ours": ("ghtoken_" + LETTERS, "ghtoken_" + LETTERS),
}
HARMLESS = [
    "apiKey: import.meta.env.X",
    "api_key = os.environ['STRIPE_API_KEY']",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: $DATABASE_PASSWORD",
    "there is no API key in the build",
    "the token is kept in the vault",
    "a risk-based approach with task-scheduling-and-more-words",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it",
    "see https://user@example.com/path and ssh://git@host:22/x",
    "postgres://app:$PASSWORD@db/app",
    "secret: vault:stripe",
    "password = hunter2",  # too short to be told from a word
    "the sha256 is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "path /home/app/.config/secrets/token_file_for_production_2024",
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_taken_out_and_the_rest_stays(name: str) -> None:
    text, secret = SECRETS[name]
    kept = screen(f"before: {text} :after")
    assert secret not in kept.text
    assert kept.found >= 1
    assert kept.text.startswith("before: ")
    assert MARK in kept.text
    assert screen(kept.text) == (kept.text, 0)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_mere_mention_stays(text: str) -> None:
    assert screen(text) == (text, 0)


def test_what_stands_around_a_secret_still_tells_what_it_was() -> None:
    kept = screen(f"curl -H 'Authorization: Bearer {LETTERS}' postgres://app:hunter2@db/app")
    assert kept.text == f"curl -H 'Authorization: Bearer {MARK}' postgres://app:{MARK}@db/app"


def test_a_secret_at_the_cut_leaves_no_half() -> None:
    text = "x " * 90 + "ghp_" + LETTERS + LETTERS
    kept = fit(text, 200)
    assert (kept.shortened, kept.removed) == (True, 1)
    assert "ghp_" not in kept.text


def test_a_secret_at_the_end_of_what_is_looked_at_leaves_no_half() -> None:
    keys = f"{PEM} " * 9  # of which nearly all goes
    for cut_at in range(780, 821):
        text = keys[: 800 - 20].ljust(cut_at) + f" ghp_{LETTERS} end"
        assert "ghp_" not in fit(text, 100).text


def test_looking_at_a_very_long_text_takes_no_time() -> None:
    started = time.monotonic()
    for unit in ("a", "-", "api_key", "token ", "a://b:", "eyJaaaaaaaa.", "eyJ-", "a.b-", "a_"):
        fit(unit * 200_000, 8000)
    assert time.monotonic() - started < 10.0


@given(st.text(st.characters(), max_size=300), st.integers(1, 300))
def test_any_text_is_made_fit(text: str, limit: int) -> None:
    kept = fit(text, limit)
    assert len(kept.text.encode()) <= limit
    assert "\0" not in kept.text


@pytest.mark.parametrize("value", ["", "short1A", "a" * 40, "1" * 40, MARK, "./a/b1C/d2E/f3G/h4I"])
def test_words_and_places_do_not_look_random(value: str) -> None:
    assert not looks_random(value)


def test_letters_without_order_look_random() -> None:
    assert looks_random(LETTERS)


def test_a_long_name_after_a_key_takes_no_time() -> None:
    started = time.monotonic()
    assert fit(f"api_key={'a_' * 26}1!", 8000).removed in {0, 1}
    assert time.monotonic() - started < 1.0


WEB_TOKEN = r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
AS_ONE = re.compile("|".join((*_FORMS, WEB_TOKEN)), re.DOTALL)
PIECES = [
    "eyJaaaaaaaa", ".eyJaaaaaaaa", ".", "-", "_", " ", "x" * 20, "A7" * 8, "AKIA", "sk-", "glpat-",
    "xoxb-", "ghtoken_", "ya29.", "SG.", "npm_", "x" * 36, "-----BEGIN PRIVATE KEY-----", "é",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_web_tokens_among_other_forms_are_as_in_one_expression(text: str) -> None:
    assert _without_sure(text) == AS_ONE.subn(MARK, text)
