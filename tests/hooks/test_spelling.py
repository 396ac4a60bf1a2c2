"""What servers take for the same field is refused beside it, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ghost_hooks.folding import folded
from ghost_hooks.params import Kind, UnreadableError
from ghost_hooks.request import Headers, Request
from ghost_hooks.spelling import Steps, read_params, readings
from ghost_hooks.target import Target
from support.policies import before, make_policy, write_hook

JSON: Headers = ((b"content-type", b"application/json"),)
FORM: Headers = ((b"content-type", b"application/x-www-form-urlencoded"),)

AMOUNT: Steps = ("amount",)
ORDER: Steps = ("order", "amount")
ITEM: Steps = ("items", "0", "amount")

# Who takes it for `amount`: .NET, Go and Jackson by case; PHP, Rack and qs by brackets and blanks; Spring by
# its default marker; C by the zero byte; parsers by what they drop.
SAME = [
    "Amount",
    "AMOUNT",
    " amount",
    "amount ",
    "amount\t",
    "amount[]",
    "amount[0]",
    "[amount]",
    "amount]",
    "amount.",
    ".amount",
    "amount.x",
    "amount[x]",
    "amount[0]x",
    "!amount",
    "amount\0x",
    "amount\u200b",
    "amount\ufe0f",
    "\ufeffamount",
    "\uff41mount",
    "am\u00f3unt",
    "a-mount",
    "a_mount",
    '"amount"',
]


def _request(headers: Headers, body: str | bytes, query: str = "") -> Request:
    data = body if isinstance(body, bytes) else body.encode()
    return Request("POST", Target("https", "a.example", 443, "/", query), headers, data)


def _code(request: Request, kind: Kind | None, *reads: Steps) -> str:
    try:
        read_params(request, kind, reads)
    except UnreadableError as error:
        assert error.status == (415 if error.code == "params.media" else 400)
        assert error.code != "params.spelling" or "spelled exactly so" in (error.hint or "")
        return error.code
    return ""


def _refused(request: Request, kind: Kind | None, *reads: Steps) -> bool:
    return _code(request, kind, *reads) == "params.spelling"


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("beside", [True, False])
def test_another_spelling_in_json_is_refused(name: str, beside: bool) -> None:
    values = {name: 9, **({"amount": 1} if beside else {})}
    assert _refused(_request(JSON, json.dumps(values)), "json", AMOUNT)


def _escaped(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())


@pytest.mark.parametrize("name", [*SAME, "amount", "amoun%u0074"])
def test_a_query_beside_json_is_refused(name: str) -> None:
    query = name if "%" in name else _escaped(name)
    for pieces in (f"{query}=9", f"a=1&{query}", f"a=1;{query}=9"):
        assert _refused(_request(JSON, '{"amount":1}', pieces), "json", AMOUNT)


@pytest.mark.parametrize("name", [each for each in SAME if each not in ("amount[x]", "amount[0]")])
def test_another_spelling_in_a_form_is_refused(name: str) -> None:
    beside = f"amount=1&{_escaped(name)}=9"
    assert _refused(_request(FORM, beside), "form", AMOUNT)
    if name != "amount[]":  # alone it is a list, which no sum and no comparison takes for a number
        assert _refused(_request(FORM, f"{_escaped(name)}=9"), "form", AMOUNT)


@pytest.mark.parametrize("name", ["amount[x]", "amount[0]"])
def test_a_value_that_is_a_group_too_is_refused(name: str) -> None:
    request = _request(FORM, f"amount=1&{name}=9")
    assert _code(request, "form", AMOUNT) == "params.ambiguous"


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("amount=1&amount=9", ""),
        ("amount=1&amount%5B%5D=9", ""),
        ("amount=1", "amount=9"),
        ("a=1", "amount=9&Amount=1"),
        ("amount=1", "Amount=9"),
        ("", "amount=1&amount=9"),
        ("", "amount=1&AMOUNT=9"),
    ],
)
def test_twice_or_in_two_places_is_refused(body: str, query: str) -> None:
    assert _refused(_request(FORM, body, query), "form" if body else "query", AMOUNT)


@pytest.mark.parametrize(
    "text",
    [
        '{"order":{"amount":1,"Amount":9}}',
        '{"order":{"amount":1},"Order":{"amount":9}}',
        '{"order":{"amount":1},"Order":null}',
        '{"order":{"amount":1},"order.amount":9}',
        '{"order":{"amount":1},"order[amount]":9}',
        '{"Order.Amount":9}',
        '{"order":[{"amount":9}]}',
        '{"order":{"amount":1},"order[]":[{"amount":9}]}',
        '[{"order":{"amount":9}}]',
        '[[{"order":{"amount":9}}]]',
    ],
)
def test_nested_fields_have_one_spelling_in_json(text: str) -> None:
    assert _refused(_request(JSON, text), "json", ORDER)


@pytest.mark.parametrize(
    "text",
    [
        "order.amount=9",
        "order[amount]=1&order.amount=9",
        "order[amount]=1&Order[amount]=9",
        "order[amount]=1&order[Amount]=9",
        "order[][amount]=9",
        "order[0][amount]=9",
        "order[amount=9",
        "%5Border%5D[amount]=9",
    ],
)
def test_nested_fields_have_one_spelling_in_a_form(text: str) -> None:
    assert _refused(_request(FORM, text), "form", ORDER)


@pytest.mark.parametrize("name", ["order.amount", "order amount", "order[amount", "orderAmount"])
def test_what_php_and_camel_case_make_of_a_name_counts(name: str) -> None:
    assert _refused(_request(JSON, json.dumps({name: 9})), "json", ("order_amount",))
    assert _refused(_request(JSON, "{}", _escaped(name)), "json", ("order_amount",))


def test_the_field_of_a_rule_about_methods_is_not_the_word_method() -> None:
    reads: Steps = ("_method",)
    assert not _refused(_request(JSON, '{"method":"x"}', "method=y"), "json", reads)
    for name in (".method", " _method", "[_method]", "_METHOD"):
        assert _refused(_request(JSON, "{}", _escaped(name)), "json", reads)


@pytest.mark.parametrize(
    ("headers", "body", "query", "reads"),
    [
        (JSON, '{"a":1}', "a=2&A=3", AMOUNT),
        (JSON, '{"amount":1,"amounts":2,"total_amount":3,"\u91d1\u984d":4}', "x&=1&[]=2", AMOUNT),
        (JSON, '{"amount":{"value":1}}', "", AMOUNT),
        (JSON, '{"amount":[1]}', "", AMOUNT),
        (JSON, '{"order":{"amount":1},"amount":2,"Amount":3}', "amount=4", ORDER),
        (JSON, '{"order":{"amount":1},"order.currency":"x"}', "order.currency=x", ORDER),
        (JSON, '{"order":1}', "", ORDER),
        (JSON, '{"items":[{"amount":1},{"amount":2}]}', "", ITEM),
        (JSON, '{"items":[]}', "", ITEM),
        (JSON, '"amount"', "", AMOUNT),
        (FORM, "order[amount]=1&order[currency]=x&amount=2", "", ORDER),
        (FORM, "amount[a]=1&amount[b]=2", "", AMOUNT),
        (FORM, "amount[]=1&amount[]=2", "", AMOUNT),
        (FORM, "items[0][amount]=1&items[1][amount]=2", "", ITEM),
        (FORM, "a=1", "amount=2", AMOUNT),
        (FORM, "order=1", "", ORDER),
    ],
)
def test_other_fields_are_left_alone(headers: Headers, body: str, query: str, reads: Steps) -> None:
    assert not _refused(_request(headers, body, query), None, reads)


def test_json_under_the_type_of_a_form_is_refused_where_something_reads() -> None:
    for body in ('{"amount":9}', ' \n[{"amount":9}]', "[amount]=9"):
        assert _code(_request(FORM, body), None, AMOUNT) == "params.media"
        assert _code(_request(FORM, body), None) == ""


def test_nothing_is_refused_where_nothing_reads() -> None:
    assert not _refused(_request(JSON, '{"amount":1,"Amount":9}', "amount=3"), "json")


def test_one_element_of_a_list_has_one_spelling() -> None:
    for text in (
        '{"items":[{"amount":1,"Amount":9}]}',
        '{"items":{"amount":9}}',
        '{"items":[[{"amount":9}]]}',
    ):
        assert _refused(_request(JSON, text), "json", ITEM)
    assert _refused(_request(FORM, "items[0][amount]=1&items[][amount]=9"), "form", ITEM)


@given(st.text(max_size=12), st.sampled_from(["{0}", " {0}", "{0}[]", "{0}[0]", "{0}\x00", "{0}."]))
def test_whatever_the_field_is_called_its_other_spellings_are_refused(name: str, form: str) -> None:
    other = form.format(name.upper())
    plain = folded(name) and not set("[].\0") & set(name) and not name.isdigit()
    assume(plain and other != name)
    assert _refused(_request(JSON, json.dumps({other: 1})), "json", (name,))


@pytest.mark.parametrize("beside", ["Amount", "amount[]", " amount"])
def test_sums_and_rules_of_a_policy_read_one_spelling(tmp_path: Path, beside: str) -> None:
    rules = [{"deny": {"host": "free.example", "when": "amount > 5"}}]
    policy = make_policy(tmp_path, "stripe", "free", rules=rules)
    body = json.dumps({"amount": 1, beside: 9}).encode()
    for host, path in (("api.stripe.com", "/v1/summed"), ("free.example", "/v1/x")):
        request = Request("POST", Target("https", host, 443, path), JSON, body)
        verdict = before(policy, request)[-1]
        assert (verdict.code, bool(verdict.hint)) == ("params.spelling", True)
    other = Request("POST", Target("https", "api.stripe.com", 443, "/v1/capped"), JSON, body)
    assert before(policy, other)[-1].code == "limit.uncounted"


def test_a_rule_file_among_the_hooks_reads_one_spelling(tmp_path: Path) -> None:
    write_hook(tmp_path, "_pre.yaml", "[{assert: amount < 5}]")
    policy = make_policy(tmp_path, "free")
    request = Request(
        "POST", Target("https", "free.example", 443, "/v1/x"), JSON, b'{"amount":1,"Amount":9}'
    )
    verdict = before(policy, request)[-1]
    assert (verdict.code, verdict.by) == ("params.spelling", "hook")


def test_of_a_name_of_very_many_levels_the_first_are_looked_at() -> None:
    deep = readings("a.0." * 10_000 + "b")[1]
    assert set(deep) == {"a"}
    assert len(deep) == 100
