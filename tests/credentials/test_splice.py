from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import DeniedError
from ghost_credentials.splice import set_form, set_json

members = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=5,
)


@pytest.mark.parametrize(
    ("text", "steps", "expected"),
    [
        ("{}", ["k"], '{"k":"s"}'),
        (" { } ", ["k"], ' {"k":"s" } '),
        ('{"a": 1.50}', ["k"], '{"k":"s","a": 1.50}'),
        ('{"a":1, "k" : {"x":[1]} ,"b":2}', ["k"], '{"a":1, "k" : "s" ,"b":2}'),
        ('{"auth": {"k": null}}', ["auth", "k"], '{"auth": {"k": "s"}}'),
        ('{"auth": {"user":"u"}}', ["auth", "k"], '{"auth": {"k":"s","user":"u"}}'),
        ('{"\\u006b":"own"}', ["k"], '{"\\u006b":"s"}'),
        ('{"a":{"k":1},"k":2}', ["k"], '{"a":{"k":1},"k":"s"}'),
    ],
)
def test_only_the_bytes_of_the_member_change(text: str, steps: list[str], expected: str) -> None:
    assert set_json(text, steps, "s") == expected


@given(members, st.text(max_size=8), st.text(max_size=20))
def test_the_member_is_set_and_the_others_keep_their_values(
    values: dict[str, object], name: str, secret: str
) -> None:
    found = json.loads(set_json(json.dumps(values, indent=1), [name], secret))
    assert found == {**values, name: secret}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", ["k"]),
        ("[]", ["k"]),
        ('"k"', ["k"]),
        ('{"k":1', ["k"]),
        ('{"k":1,"k":2}', ["k"]),
        ('{"a":{"b":1,"b":2}}', ["k"]),
        ('{"k":NaN}', ["k"]),
        ("{}", ["auth", "k"]),
        ('{"auth":"x"}', ["auth", "k"]),
        ("[" * 100_000, ["k"]),
    ],
)
def test_a_text_without_one_place_is_refused(text: str, steps: list[str]) -> None:
    with pytest.raises(DeniedError) as caught:
        set_json(text, steps, "s")
    assert caught.value.code == "credential.body"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "k=a%2Fb+c"),
        ("x=1", "x=1&k=a%2Fb+c"),
        ("x=1&k=own&y=%20&%6B=two", "x=1&k=a%2Fb+c&y=%20"),
    ],
)
def test_a_form_field_stands_once(text: str, expected: str) -> None:
    assert set_form(text, "k", "a/b c") == expected
