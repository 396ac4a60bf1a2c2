from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_credentials.needles import MIN_ENCODED_BYTES, needles

secrets = st.binary(min_size=MIN_ENCODED_BYTES, max_size=64)
texts = st.text(min_size=MIN_ENCODED_BYTES, max_size=40).filter(
    lambda text: not any("\ud800" <= c <= "\udfff" for c in text)
)


def found(secret: bytes, text: bytes) -> bool:
    return any(needle in text for needle in needles(secret))


@given(secrets, st.binary(max_size=7), st.binary(max_size=7))
def test_base64_is_found_in_every_phase(secret: bytes, before: bytes, after: bytes) -> None:
    joined = before + secret + after
    assert found(secret, base64.b64encode(joined))
    assert found(secret, base64.urlsafe_b64encode(joined))


@given(secrets)
def test_hex_is_found_in_both_cases(secret: bytes) -> None:
    assert found(secret, secret.hex().encode())
    assert found(secret, secret.hex().upper().encode())


@given(secrets)
def test_percent_is_found_minimal_and_full_in_both_cases(secret: bytes) -> None:
    full = "".join(f"%{byte:02X}" for byte in secret)
    for form in (full, full.lower(), quote(secret), quote(secret, safe=""), quote_plus(secret)):
        assert found(secret, form.encode())


def test_what_browsers_encode_is_found() -> None:
    secret = b"it's (a) s/e+c=r~e!t"
    assert found(secret, b"it's%20(a)%20s%2Fe%2Bc%3Dr~e!t")
    assert found(secret, b"it's%20(a)%20s/e+c=r~e!t")
    assert found(secret, b"it%27s+%28a%29+s%2fe%2bc%3dr~e%21t")


@given(texts)
def test_json_is_found_escaped_and_unescaped(text: str) -> None:
    secret = text.encode()
    plain, raw = json.dumps(text), json.dumps(text, ensure_ascii=False)
    for form in (plain, raw, plain.replace("/", "\\/"), raw.replace("/", "\\/")):
        assert found(secret, form.encode())


@given(texts)
def test_json_is_found_with_every_character_escaped(text: str) -> None:
    units = text.encode("utf-16-be").hex()
    full = "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
    assert found(text.encode(), full.encode())
    assert found(text.encode(), full.upper().replace("\\U", "\\u").encode())


def test_json_that_is_safe_for_html_is_found() -> None:
    assert found(b"a<b>&c'd+e=f", b'"a\\u003cb\\u003e\\u0026c\\u0027d\\u002be\\u003df"')


@pytest.mark.parametrize("secret", [b"a", b"hunter2"])
def test_a_short_secret_is_searched_as_it_is_only(secret: bytes) -> None:
    assert needles(secret) == (secret,)


@given(texts)
def test_wide_text_one_case_and_escapes_by_bytes_are_found(text: str) -> None:
    secret = text.encode()
    forms = [
        text.encode("utf-16-le"),
        text.encode("utf-16-be"),
        text.encode("utf-32-le"),
        text.encode("utf-32-be"),
        text.lower().encode(),
        text.upper().encode(),
    ]
    forms += ["".join(f"\\x{byte:02x}" for byte in secret).encode(), html.escape(text).encode()]
    forms += [
        json.dumps(json.dumps(text)).encode(),
        json.dumps(json.dumps(text).replace("/", "\\/")).encode(),
    ]
    assert [form for form in forms if not found(secret, form)] == []


def test_an_empty_secret_is_never_found() -> None:
    assert needles(b"") == ()


@given(secrets)
def test_the_longest_form_comes_first(secret: bytes) -> None:
    sizes = [len(needle) for needle in needles(secret)]
    assert sizes == sorted(sizes, reverse=True)


def test_a_secret_that_is_no_text_has_json_forms_too() -> None:
    assert found(b"\xff\xfe-hunter2", b'"\\u00ff\\u00fe-hunter2"')
