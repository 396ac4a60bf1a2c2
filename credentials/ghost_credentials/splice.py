"""Sets one value in the text of a body, JSON or form, and leaves every other byte as it is.

Read strictly: a text that could be read in two ways (a name twice in one object, RFC 8259 §4) has no one
place for a secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final, NoReturn
from urllib.parse import quote_plus, unquote_plus

from ghost_core.errors import DeniedError

_BLANKS: Final = " \t\n\r"
_DECODER: Final = json.JSONDecoder()


def set_json(text: str, steps: Sequence[str], value: str) -> str:
    """Set the member that the steps lead to, or add it to its object.

    Raises DeniedError `credential.body` where the text is no JSON, or no object holds the place.
    """
    _require_json(text)
    start = _past_blanks(text, 0)
    for name in steps[:-1]:
        place = _member(text, start, name)
        if place is None:
            raise _unfit(f"an object named {name!r}")
        start = place[0]
    made = json.dumps(value)
    place = _member(text, start, steps[-1])
    if place is not None:
        return text[: place[0]] + made + text[place[1] :]
    more = "" if text[_past_blanks(text, start + 1)] == "}" else ","
    return f"{text[: start + 1]}{json.dumps(steps[-1])}:{made}{more}{text[start + 1 :]}"


def set_form(text: str, name: str, value: str) -> str:
    """Set the field of this name once, in the place of the first one (WHATWG URL, §5.1)."""
    parts = text.split("&") if text else []
    places = [at for at, part in enumerate(parts) if unquote_plus(part.partition("=")[0]) == name]
    made = f"{quote_plus(name)}={quote_plus(value)}"
    place = places[0] if places else len(parts)
    rest = [part for at, part in enumerate(parts) if at not in places]
    return "&".join((*rest[:place], made, *rest[place:]))


def _require_json(text: str) -> None:
    try:
        json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _unfit("a body that can be read in one way") from error


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object names a member twice")
    return found


def _no_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


def _member(text: str, start: int, name: str) -> tuple[int, int] | None:
    """Return begin and end of the value of a member; `start` is where its object begins."""
    if text[start] != "{":
        raise _unfit(f"an object around {name!r}")
    return next((span for found, span in _members(text, start) if found == name), None)


def _members(text: str, start: int) -> Iterator[tuple[str, tuple[int, int]]]:
    at = _past_blanks(text, start + 1)
    while text[at] == '"':
        name, at = _DECODER.raw_decode(text, at)
        begin = _past_blanks(text, _past_blanks(text, at) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        yield name, (begin, end)
        at = _past_blanks(text, end)
        if text[at] == ",":
            at = _past_blanks(text, at + 1)


def _past_blanks(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at


def _unfit(expected: str) -> DeniedError:
    return DeniedError(f"body: expected {expected}", code="credential.body")
