from __future__ import annotations

import pytest

from ghost_ledger.export import words

STATES = ("valid", "invalid", "incomplete", "absent")


@pytest.mark.parametrize(
    "name", ["signatures", "chain", "complete", "intents", "inclusion", "key", "head", "columns"]
)
def test_each_state_of_an_axis_has_its_own_sentence(name: str) -> None:
    sentences = [words.axis_sentence(name, state) for state in ("valid", "invalid", "incomplete")]
    assert len(set(sentences)) == 3
    assert all(sentence.endswith(".") for sentence in sentences)


def test_an_unknown_axis_is_named_not_hidden() -> None:
    assert words.axis_sentence("gravity", "invalid") == "gravity: invalid."


def test_signs_differ_without_colour() -> None:
    assert len({words.SIGNS[state] for state in STATES}) == 4


def test_a_scope_refusal_names_the_scope_that_would_allow_it() -> None:
    denial = {"stage": "scope", "tool": "stripe", "action": "refund", "host": "api.stripe.com"}
    assert words.hint(denial) == "ghost spawn --intent … --scope stripe:refund"


def test_a_raw_refusal_names_method_and_host() -> None:
    denial = {"stage": "scope", "tool": "a.b", "action": "GET", "method": "GET", "host": "a.b"}
    assert words.hint(denial) == "ghost spawn --intent … --scope 'GET https://a.b/**'"


@pytest.mark.parametrize(
    ("host", "port", "place"),
    [
        ("a.b", 443, "a.b"),
        ("a.b", None, "a.b"),
        ("localhost", 8443, "localhost:8443"),
        ("::1", 8443, "[::1]:8443"),
    ],
)
def test_the_scope_names_the_port_that_was_called(host: str, port: int | None, place: str) -> None:
    denial = {"stage": "scope", "tool": host, "action": "GET", "method": "GET"}
    assert words.hint({**denial, "host": host, "port": port}) == (
        f"ghost spawn --intent … --scope 'GET https://{place}/**'"
    )


def test_a_host_cannot_smuggle_a_command_into_the_hint() -> None:
    host = "a; rm -rf ~"
    denial = {"stage": "scope", "tool": host, "action": "GET", "method": "GET", "host": host}
    assert words.hint(denial) == "ghost spawn --intent … --scope 'GET https://a; rm -rf ~/**'"
