"""A field of a schema is spelled as the schema does, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from ghost_hooks.names import Names
from ghost_hooks.params import UnreadableError, of_request
from ghost_hooks.request import Request
from ghost_hooks.target import Target

PERSON = {"properties": {"user_id": {}, "userId": {}}}
SCHEMA: dict[str, Any] = {
    "properties": {"amount": {"maximum": 100}, "person": {"$ref": "#/$defs/person"}},
    "allOf": [{"properties": {"currency": {}}}],
    "then": {"properties": {"late": {}}},
    "not": {"required": ["role"]},
    "dependentSchemas": {"x": {"$ref": "#named"}},
    "$defs": {
        "person": PERSON,
        "named": {"$anchor": "named", "properties": {"far": {}}},
        "loop": {"properties": {"loop": {"$ref": "#/$defs/loop"}}},
    },
}


def require(body: bytes, *, query: str = "", schema: Any = SCHEMA) -> None:
    kind = b"application/json" if body.startswith(b"{") else b"application/x-www-form-urlencoded"
    target = Target("https", "api.test", 443, "/x", query)
    request = Request("POST", target, ((b"content-type", kind),), body)
    Names.of(schema).require(request, of_request(request, None))


@pytest.mark.parametrize(
    "body",
    [
        b'{"Amount": 5000}',
        b'{"amount": 1, "AMOUNT": 5000}',
        b'{"amount[]": 5000}',
        b'{"Currency": "usd"}',
        b'{"person": {"USERID": 7}}',
        b'{"person.user_id": 7}',
        b"Amount=5000",
        b"amount=1&a.mount=5",
        b"person[user_id]=1&person[USERID]=7",
        b'{"Late": 1}',
        b'{"Role": 1}',
        b'{"Far": 1}',
    ],
)
def test_another_spelling_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableError) as caught:
        require(body)
    assert caught.value.code == "params.spelling"


QUERIES = (
    "amount=5000",
    "amount%5B%5D=5000",
    "a=1&amount[x]=5000",
    "AMOUNT=5000",
    "a.mount=5",
    "a=1;amount=5",
    "am%u006funt=5",
    "amount",
    "[amount]=5",
    "person[user_id]=7",
    "person.user_id=7",
    "currency=usd",
    "late=1",
)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("body", [b'{"amount": 1}', b"{}", b'{"person": {"user_id": 1}}'])
def test_a_field_in_the_query_beside_json_is_refused(body: bytes, query: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        require(body, query=query)
    assert caught.value.code == "params.spelling"
    assert "5000" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("amount=5000", b"amount=1"),
        ("amount%5B%5D=5000", b"amount=1"),
        ("person[user_id]=5", b"person[userId]=1"),
        ("AMOUNT=5000", b"a=1"),
        ("a=1", b"am%u006funt=5"),
    ],
)
def test_a_field_is_in_the_query_or_in_the_form(query: str, body: bytes) -> None:
    with pytest.raises(UnreadableError) as caught:
        require(body, query=query)
    assert caught.value.code == "params.spelling"


def test_json_under_the_type_of_a_form_is_read_by_nobody_as_two() -> None:
    body = b' {"amount": 5000, "x": "&amount=1&x="}'
    lines = ((b"content-type", b"application/x-www-form-urlencoded"),)
    request = Request("POST", Target("https", "api.test", 443, "/x", ""), lines, body)
    with pytest.raises(UnreadableError) as caught:
        Names.of(SCHEMA).require(request, of_request(request, None))
    assert (caught.value.code, caught.value.status) == ("params.media", 415)


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("amounts=1&other=2&a%5Bamount%5D=3&other.x=amount&_amount=1", b'{"amount": 1}'),
        ("other=1&expand[]=a&expand[]=b", b"amount=1"),
        ("amount=5&person[user_id]=1", b"other=1"),
        ("amount=5&amount=6", b""),
    ],
)
def test_names_that_the_schema_does_not_know_go_on(query: str, body: bytes) -> None:
    require(body, query=query)


@pytest.mark.parametrize(
    "body",
    [
        b'{"amount": 5, "currency": "usd", "person": {"user_id": 1, "userId": 2}}',
        b'{"amounts": 5, "other": {"Amount": 1}, "person": [{"USERID": 1}]}',
        b"amount=1&amount=2&currency=usd",
        b"person[user_id]=1",
        b"{}",
    ],
)
def test_exact_and_other_names_pass(body: bytes) -> None:
    require(body)


@pytest.mark.parametrize("schema", [{}, {"$ref": "#/nowhere"}, {"type": "array"}])
def test_a_schema_without_names_asks_for_none(schema: Any) -> None:
    require(b'{"Amount": 1}', schema=schema)


def test_a_schema_within_itself_ends() -> None:
    schema = {"$ref": "#/$defs/loop", "$defs": SCHEMA["$defs"]}
    require(b'{"loop": {"loop": {"loop": {}}}}', schema=schema)
    with pytest.raises(UnreadableError):
        require(b'{"loop": {"Loop": {}}}', schema=schema)
