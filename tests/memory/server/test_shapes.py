from __future__ import annotations

import jsonschema
import pytest

from ghost_memory.server import shapes


@pytest.mark.parametrize(
    "shape",
    [shapes.MEMORY, shapes.TASK, shapes.DECISION, shapes.PROJECT, shapes.page("x", shapes.TASK)],
)
def test_every_shape_is_json_schema(shape: dict[str, object]) -> None:
    jsonschema.Draft202012Validator.check_schema(shape)


def test_a_page_must_say_how_much_there_is() -> None:
    shape = shapes.page("rows", shapes.of(id="text"), {"note": "text"})
    jsonschema.validate({"rows": [{"id": "a"}], "total": 1, "next_cursor": ""}, shape)
    for wrong in (
        {"rows": [], "total": 1},
        {"rows": [{}], "total": 1, "next_cursor": ""},
        {"rows": [], "total": "1", "next_cursor": ""},
        {"rows": [], "total": 1, "next_cursor": "", "note": 5},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, shape)
