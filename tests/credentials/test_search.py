from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghost_credentials.needles import needles
from ghost_credentials.search import Search

SECRET = b"sk_live_hunter2/Hunter2&more"

secrets = st.lists(
    st.text("abAB12/&\"'\\+-_>?é\u010a", min_size=1, max_size=24).map(str.encode),
    min_size=1,
    max_size=3,
)


@given(secrets, st.data())
def test_it_finds_what_a_search_for_each_form_would(
    values: list[bytes], data: st.DataObject
) -> None:
    forms = [needles(value) for value in values]
    form = data.draw(st.sampled_from([each for found in forms for each in found]))
    changes = [form, form.lower(), form.upper(), form.swapcase(), form[1:], form[:-1]]
    text = b"".join(data.draw(st.lists(st.sampled_from([*changes, b"ab", b"\\u"]), max_size=4)))
    expected = any(form in text for found in forms for form in found)
    assert Search(forms).finds(text) is expected


@pytest.mark.parametrize("form", needles(SECRET))
def test_every_form_is_found_and_none_of_it_missing_a_letter(form: bytes) -> None:
    search = Search([needles(SECRET)])
    assert search.finds(b"<" + form + b">")
    for at in range(len(form)):
        text = form[:at] + b"~" + form[at + 1 :]
        assert not search.finds(text), text


def test_forms_of_one_secret_share_searches() -> None:
    forms = needles(b"p@ss/0123456789abcdef&more")
    ((_, alone, shared),) = [group for group in Search([forms])._groups if not group.marker]
    assert len(alone) + len(shared) <= 5 < len(forms) / 4


def test_nothing_is_found_without_secrets() -> None:
    assert not Search([]).finds(b"text")
    assert not Search([()]).finds(b"")
