from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_memory import verdict


def test_nothing_found_and_everything_withheld_are_told_apart() -> None:
    assert verdict.judge("port", [], withheld=0) == ("empty", "no match")
    assert verdict.judge("port", [], withheld=2) == ("empty", "all withheld")


def test_a_hit_with_the_words_of_the_question_answers_it() -> None:
    said = "The gateway listens on port 8402."
    assert verdict.judge("which port does the gateway listen on", [said], withheld=0) == (
        "answerable",
        "",
    )


def test_a_hit_that_shares_one_word_of_many_is_weak() -> None:
    said = "The gateway listens on port 8402."
    asked = "who approves holidays of the gateway team in summer"
    assert verdict.judge(asked, [said], withheld=0) == ("weak", "few words shared")


def test_a_hit_by_meaning_alone_is_said_to_be_one() -> None:
    judged = verdict.judge("qqqq zzz", ["port 8402"], withheld=0, by_words=False)
    assert judged == ("weak", "no word shared, by meaning only")


def test_only_the_first_hits_count() -> None:
    filler = ["nothing of it"] * verdict.LOOKED_AT
    assert verdict.judge("gateway port", [*filler, "gateway port"], withheld=0)[0] == "weak"


@pytest.mark.parametrize(
    ("asked", "said"),
    [("rotate keys", "key rotation"), ("merchants", "a merchant"), ("replaced", "replaces")],
)
def test_endings_do_not_matter(asked: str, said: str) -> None:
    assert verdict.coverage(asked, said) == 1.0


def test_numbers_must_be_the_same() -> None:
    assert verdict.coverage("8402", "port 8403") == 0.0


@given(st.text(), st.text())
def test_any_two_texts_have_a_share_between_nothing_and_all(one: str, two: str) -> None:
    assert 0.0 <= verdict.coverage(one, two) <= 1.0
