from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from ghost_core.errors import UsageError
from ghost_memory.bench import forms


@pytest.mark.parametrize("form", [forms.MEMORY, forms.QUERY, forms.CONVERSATIONS, forms.QUESTION])
def test_every_form_is_a_schema(form: Draft202012Validator) -> None:
    Draft202012Validator.check_schema(form.schema)


def test_the_place_and_the_rule_are_named_and_long_rules_cut() -> None:
    forms.require({"key": "a", "content": "x", "more": 1}, forms.MEMORY, "here")
    with pytest.raises(UsageError, match="here at 'tags/0': 5 is not of type 'string'") as caught:
        forms.require({"key": "a", "content": "x", "tags": [5]}, forms.MEMORY, "here")
    assert caught.value.code == "bench.form"
    with pytest.raises(
        UsageError, match="here at 'key': \\[0, 0.* … .*0\\] is not of type 'string'"
    ):
        forms.require({"key": [0] * 1000, "content": "x"}, forms.MEMORY, "here")
