"""The forms that data sets must have, as JSON Schema (draft 2020-12); other fields are allowed."""

from __future__ import annotations

from typing import Any, Final

from jsonschema import Draft202012Validator

from ghost_core.errors import UsageError

__all__ = ["CONVERSATIONS", "MEMORY", "QUERY", "QUESTION", "SESSION", "Form", "require"]

type Form = Draft202012Validator

_HALF: Final = 60
SESSION: Final = "^session_[0-9]+$"
_TEXT: Final = {"type": "string"}
_KEY: Final = {"type": "string", "minLength": 1}
_KEYS: Final = {"type": "array", "items": _TEXT}


def _object(required: str, **fields: object) -> dict[str, object]:
    return {"type": "object", "required": required.split(), "properties": fields}


def _list(items: object, least: int = 0) -> dict[str, object]:
    return {"type": "array", "items": items, "minItems": least}


MEMORY: Final = Draft202012Validator(
    _object(
        "key content",
        key=_KEY,
        content=_KEY,
        category=_TEXT,
        importance={"type": "number", "minimum": 0, "maximum": 1},
        tags=_KEYS,
        project=_KEY,
        age_days={"type": "number", "minimum": 0, "maximum": 36_500},
        supersedes=_KEYS,
        resolved={"type": "boolean"},
        pinned={"type": "boolean"},
    )
)
QUERY: Final = Draft202012Validator(
    _object(
        "name text",
        name=_KEY,
        text=_KEY,
        rel={"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
        project={"type": ["string", "null"]},
        split=_TEXT,
        wrong=_KEYS,
        **{"class": _TEXT},
    )
)
CONVERSATIONS: Final = Draft202012Validator(
    _list(
        _object(
            "conversation qa",
            conversation={
                "type": "object",
                "patternProperties": {SESSION: _list(_object("dia_id", dia_id=_KEY, text=_TEXT))},
            },
            qa=_list(
                _object("question", question=_TEXT, evidence=_KEYS, category={"type": "integer"})
            ),
        ),
        least=1,
    )
)
QUESTION: Final = Draft202012Validator(
    _object(
        "question_id question haystack_session_ids haystack_sessions answer_session_ids",
        question_id=_KEY,
        haystack_session_ids=_list(_KEY, 1),
        haystack_sessions=_list(_list(_object("", content=_TEXT)), 1),
        answer_session_ids=_list(_KEY, 1),
    )
)


def require(found: Any, form: Form, where: str) -> None:
    """Raise UsageError `bench.form` that names the first place where a document has another form."""
    for error in form.iter_errors(found):
        place = "/".join(map(str, error.absolute_path))
        at = f" at {place!r}" if place else ""
        raise UsageError(f"{where}{at}: {_short(error.message)}", code="bench.form")


def _short(message: str) -> str:
    """Cut in the middle: a message begins with the value and ends with what was expected."""
    return message if len(message) <= 2 * _HALF else f"{message[:_HALF]} … {message[-_HALF:]}"
