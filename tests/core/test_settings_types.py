from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from ghost_core.settings_fields import FIELDS
from ghost_core.settings_types import OptionalPath, Section, Size, setting


class Example(Section):
    size: Size = setting("proxy.buffer_limit")
    file: OptionalPath = None


def test_a_default_comes_from_the_table_and_is_read_like_a_value() -> None:
    assert FIELDS["proxy.buffer_limit"].default == "64MB"
    assert Example().size == 64_000_000


def test_a_section_is_frozen_and_refuses_unknown_names() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Example().size = 1
    with pytest.raises(ValidationError, match="not permitted"):
        Example.model_validate({"sizes": 1})


def test_no_file_is_no_path() -> None:
    assert TypeAdapter(OptionalPath).validate_python("") is None
    assert TypeAdapter(OptionalPath).validate_python(None) is None
