from __future__ import annotations

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from ghost_core.errors import IntegrityError
from ghost_ledger import canonical

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,31}", fullmatch=True)
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALARS = TEXTS | INTEGERS | st.booleans()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4)
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=6)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def depth_of(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


def refused(data: bytes, match: str = "canonical form") -> None:
    with pytest.raises(IntegrityError, match=match) as caught:
        canonical.decode(data)
    assert caught.value.code == "ledger.grammar"


@given(OBJECTS.filter(lambda value: depth_of(value) <= 8))
def test_what_was_encoded_decodes_to_the_same_object_and_back(value: dict[str, Any]):
    data = canonical.encode(value)
    assert canonical.decode(data) == value
    assert canonical.encode(canonical.decode(data)) == data


@given(OBJECTS.filter(lambda value: depth_of(value) <= 8))
def test_our_bytes_are_those_of_rfc_8785(value: dict[str, Any]):
    assert canonical.encode(value) == rfc8785.dumps(value)


@given(OBJECTS.filter(lambda value: depth_of(value) <= 8), st.data())
def test_any_other_json_text_of_the_same_object_is_refused(value: dict[str, Any], data):
    style = data.draw(
        st.sampled_from([{"indent": 1}, {"ensure_ascii": True}, {"separators": (", ", ":")}])
    )
    other = json.dumps(value, sort_keys=True, **{"ensure_ascii": False, **style}).encode()
    if other != canonical.encode(value):
        refused(other)


@given(st.binary(max_size=60))
def test_random_bytes_are_refused_with_our_own_error(data: bytes):
    try:
        value = canonical.decode(data)
    except IntegrityError:
        return
    assert canonical.encode(value) == data


def test_the_form_is_one_sorted_line():
    value = {"z": True, "a": ["é", 1, {"b": False}], "m": 'line\nquote"\u2028'}
    expected = '{"a":["é",1,{"b":false}],"m":"line\\nquote\\"\u2028","z":true}'
    assert canonical.encode(value) == expected.encode()


@pytest.mark.parametrize("text", [r'{"a":1,"a":1}', r'{"a":1,"\u0061":2}', r'{"b":{"a":1,"a":2}}'])
def test_a_repeated_name_is_refused_also_in_disguise(text: str):
    refused(text.encode(), "repeats a name")


@pytest.mark.parametrize(
    "data",
    [
        rb'{"a":"\ud800"}',
        rb'{"a":"\udc00\ud800"}',
        b'{"a":"\xff"}',
        b'{"a":"\xc0\xaf"}',
        b'{"a":"\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"a":1}',
    ],
)
def test_surrogates_invalid_utf8_and_a_byte_order_mark_are_refused(data: bytes):
    refused(data)


def test_a_lone_surrogate_is_not_encoded():
    with pytest.raises(IntegrityError, match="surrogate"):
        canonical.encode({"a": "\ud800"})


def test_composed_and_decomposed_letters_stay_two_different_texts():
    composed, decomposed = canonical.encode({"a": "\u00e9"}), canonical.encode({"a": "e\u0301"})
    assert composed != decomposed
    assert canonical.decode(decomposed) == {"a": "e\u0301"}


@pytest.mark.parametrize("name", ["é", "A", "", "1a", "a-b", "a" * 33, "\U0001f600", "a\n"])
def test_a_name_outside_the_grammar_is_refused(name: str):
    refused(json.dumps({name: 1}, ensure_ascii=False, separators=(",", ":")).encode(), "name")
    with pytest.raises(IntegrityError, match="name"):
        canonical.encode({name: 1})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"a":1}\n',
        ' {"a":1}',
        '{"b":1,"a":1}',
        r'{"a":"\/"}',
        r'{"a":"\u0041"}',
        r'{"a":"\u000A"}',
        r'{"a":"\u000a"}',
        '{"a":-0}',
        '{"a":01}',
        '{"a":1,}',
        '{"a":"\t"}',
        "",
        "{",
    ],
)
def test_other_spellings_of_an_object_are_refused(text: str):
    refused(text.encode())


@pytest.mark.parametrize("text", ["1.0", "1e3", "NaN", "Infinity", "-Infinity", "null"])
def test_floats_and_null_are_refused(text: str):
    refused(f'{{"a":{text}}}'.encode())


@pytest.mark.parametrize("number", [2**53, -(2**53), 10**17, -(10**400)])
def test_an_integer_past_53_bits_is_refused(number: int):
    refused(f'{{"a":{number}}}'.encode(), "integer")
    with pytest.raises(IntegrityError, match="integer"):
        canonical.encode({"a": number})


def test_an_integer_of_10_000_digits_is_refused_before_it_is_computed():
    refused(b'{"a":1' + b"0" * 10_000 + b"}", "integer")


class Number(int):
    pass


class Words(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value", [None, 1.5, (1,), b"x", Number(1), Words("x"), {1: 2}, [1.5], [[None]]]
)
def test_values_of_other_python_types_are_refused(value: Any):
    with pytest.raises(IntegrityError):
        canonical.encode({"a": value})


@pytest.mark.parametrize("text", ["[]", '"a"', "1", "true"])
def test_only_an_object_stands_at_the_top(text: str):
    refused(text.encode(), "expected an object")


def test_eight_levels_are_allowed_and_the_ninth_is_not():
    assert canonical.decode(canonical.encode(nested(8))) == nested(8)
    with pytest.raises(IntegrityError, match="deeper"):
        canonical.encode(nested(9))


def test_lists_count_as_levels_too():
    lists: list[Any] = []
    for _ in range(6):
        lists = [lists]
    assert canonical.decode(canonical.encode({"a": lists})) == {"a": lists}
    with pytest.raises(IntegrityError, match="deeper"):
        canonical.encode({"a": [lists]})


@pytest.mark.parametrize("opening", [b'{"a":', b"["])
def test_a_depth_of_100_000_is_refused_without_a_recursion_error(opening: bytes):
    with pytest.raises(IntegrityError):
        canonical.decode(opening * 100_000, limit=10**7)


def test_a_text_over_the_limit_is_refused_before_it_is_parsed():
    refused(b"not json " * canonical.BODY_LIMIT, "at most")
    with pytest.raises(IntegrityError, match="at most"):
        canonical.encode({"a": "x" * canonical.BODY_LIMIT})


def test_the_limit_is_exact():
    value = {"a": "x" * (canonical.BODY_LIMIT - 8)}
    assert len(canonical.encode(value)) == canonical.BODY_LIMIT
    assert canonical.decode(canonical.encode(value)) == value


def test_a_million_names_are_a_bounded_error():
    text = "{" + ",".join(f'"a{number}":1' for number in range(1_000_000)) + "}"
    with pytest.raises(IntegrityError, match="at most"):
        canonical.decode(text.encode())
