"""Parameters of a call: read from JSON, form or query as sent, and written for `ghost act`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NoReturn
from urllib.parse import quote_plus

from ghost_core.errors import DeniedError, UsageError
from ghost_core.media import utf8_type
from ghost_hooks.percent import unquoted
from ghost_hooks.request import Reply, Request, header

type Json = str | int | Decimal | bool | Sequence[Json] | Mapping[str, Json] | None
type Kind = Literal["json", "form", "query"]

FIELD_LIMIT = 10_000
COMMA_LIMIT = 1_000_000  # nobody else gets a turn while the values of a text are made
ESCAPE_LIMIT = 5_000_000
DEPTH_LIMIT = 16
DIGIT_LIMIT = (
    4300  # as of whole numbers in Python; longer ones take long in one step, and much memory
)
_KEY = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)\Z")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\Z")  # `\d` has the digits of all scripts
_STEP = re.compile(r"\[([^\[\]]*)\]")
_JSON = re.compile(r"(?:application/json|[a-z]+/[a-z0-9.+-]+\+json)\Z")
_FORM = "application/x-www-form-urlencoded"


class UnreadableError(DeniedError):
    """Parameters that a rule has to judge cannot be read in one way only; `status` goes to the agent."""

    def __init__(
        self, message: str, *, code: str, status: int = 400, hint: str | None = None
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.status = status


@dataclass(frozen=True, slots=True)
class Params:
    """What was sent; `typed` is False when every value is text (form and query)."""

    values: Json
    typed: bool


def of_request(request: Request, kind: Kind | None) -> Params:
    """Read the parameters of a buffered request; without a kind its content type decides.

    Raises: UnreadableError with status 400 (malformed, ambiguous) or 415 (other type or encoding).
    """
    body = request.body
    if body is None:
        raise UnreadableError(
            "body: streams past a rule that must read it", code="params.streamed", status=500
        )
    if body and kind == "query":
        raise _ambiguous("parameters belong into the query, found a body too")
    if not body:
        return Params(_fields([request.target.query]), typed=False)
    media = _media(request.headers)
    if _JSON.match(media) and kind != "form":
        return Params(parse_json(body), typed=True)
    if media == _FORM and kind != "json":
        return Params(_fields([request.target.query, _text(body)]), typed=False)
    raise UnreadableError(
        f"body: expected {kind or 'json or form'} with its content type",
        code="params.media",
        status=415,
    )


def of_reply(reply: Reply) -> Json:
    """Read the JSON of a buffered reply; raises UnreadableError."""
    media = _media(reply.headers)
    if not _JSON.match(media):
        raise UnreadableError("reply: expected JSON", code="params.media", status=502)
    return parse_json(reply.body or b"")


def parse_json(data: bytes) -> Json:
    """Read JSON strictly: UTF-8, no doubled names, no NaN; numbers with a point become Decimal."""
    if data.count(b",") > COMMA_LIMIT:
        raise UnreadableError(
            f"body: more than {COMMA_LIMIT} commas", code="params.long", status=413
        )
    if data.count(b"\\") > ESCAPE_LIMIT:
        raise UnreadableError(
            f"body: more than {ESCAPE_LIMIT} escapes", code="params.long", status=413
        )
    try:
        value: Json = json.loads(
            _text(data),
            object_pairs_hook=_object,
            parse_float=_decimal,
            parse_int=_whole,
            parse_constant=_no_constant,
        )
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise UnreadableError("body: is no valid JSON", code="params.malformed") from error
    return value


def as_number(value: object) -> object:
    """Read text that spells a JSON number, as a form sends it; anything else stays as it is."""
    if isinstance(value, str) and len(value) <= DIGIT_LIMIT and _NUMBER.match(value):
        return Decimal(value)
    return value


def _media(headers: tuple[tuple[bytes, bytes], ...]) -> str:
    if header(headers, b"content-encoding").strip().lower() not in {"", "identity"}:
        raise UnreadableError(
            "body: expected no content encoding under a body rule",
            code="params.encoding",
            status=415,
        )
    text = header(headers, b"content-type")
    try:
        return utf8_type(text) if text else ""
    except ValueError as error:
        raise UnreadableError(
            f"content type: {error}", code="params.encoding", status=415
        ) from error


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableError("body: is no UTF-8", code="params.malformed") from error


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _ambiguous("a JSON object names a field twice")
    return found


def _whole(text: str) -> int:
    # the parser's own way gives nobody a turn, and long numbers take long
    return int(text)


def _decimal(text: str) -> Decimal:
    if len(text) > DIGIT_LIMIT:
        raise ValueError("a number is too long")
    return Decimal(text)


def _no_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


def _ambiguous(why: str) -> UnreadableError:
    return UnreadableError(f"params: {why}", code="params.ambiguous")


def _fields(texts: Sequence[str]) -> Json:
    """Read `a=1&b[c]=2&d[]=3`; fields given twice become a list."""
    tree: dict[str, object] = {}
    pieces = [piece for text in texts for piece in text.split("&") if piece]
    if len(pieces) > FIELD_LIMIT:
        raise _ambiguous(f"more than {FIELD_LIMIT} fields")
    for piece in pieces:
        if ";" in piece:
            raise _ambiguous("a raw semicolon, which some servers read as a separator")
        name, _, value = piece.partition("=")
        _put(tree, _decoded(name), _decoded(value))
    return _lists(tree)


def _decoded(text: str) -> str:
    try:
        return unquoted(text.replace("+", " ").encode()).decode()
    except UnicodeDecodeError as error:
        raise UnreadableError("params: are no UTF-8", code="params.malformed") from error


def name_steps(name: str) -> tuple[str, ...]:
    """Return the steps of a field's name, as `a`, `b` and an empty one of `a[b][]`.

    Raises: UnreadableError `params.ambiguous` for more steps than are read.
    """
    if name.count("[") >= DEPTH_LIMIT:
        raise _ambiguous(f"fields deeper than {DEPTH_LIMIT}")
    found = _KEY.match(name)
    return (found[1], *_STEP.findall(found[2])) if found else (name,)


def _put(tree: dict[str, object], name: str, value: str) -> None:
    steps = name_steps(name)
    many = steps[-1] == "" and len(steps) > 1
    node = tree
    for step in steps[: -2 if many else -1]:
        inner = node.setdefault(step, {})
        if not isinstance(inner, dict):
            raise _ambiguous("a field is both a value and a group")
        node = inner
    last = steps[-2] if many else steps[-1]
    _add(node, last, value, many=many)


def _add(node: dict[str, object], name: str, value: str, *, many: bool) -> None:
    old = node.get(name)
    match old:
        case None:
            node[name] = [value] if many else value
        case list():
            old.append(value)
        case str():
            node[name] = [old, value]
        case _:
            raise _ambiguous("a field is both a value and a group")


def _lists(node: object) -> Json:
    """Turn groups numbered 0, 1, 2 … into lists."""
    if isinstance(node, list):
        return [_lists(each) for each in node]
    if not isinstance(node, dict):
        return str(node)
    found = {str(name): _lists(value) for name, value in node.items()}
    if found and list(found) == [str(index) for index in range(len(found))]:
        return list(found.values())
    return found


def encode(kind: Kind, values: Mapping[str, object]) -> str:
    """Write parameters as JSON text, or as form or query text; raises UsageError for odd values."""
    if kind == "json":
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    pairs = [pair for name, value in values.items() for pair in _pairs(kind, name, value)]
    return "&".join(f"{quote_plus(name, safe='[]')}={quote_plus(text)}" for name, text in pairs)


def text_of(name: str, value: object) -> str:
    """Return a single value as the text of a path, form or query; raises UsageError."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float() | Decimal():
            return str(value)
        case _:
            raise UsageError(f"parameter {name!r}: expected text, a number or a truth value")


def _pairs(kind: Kind, name: str, value: object) -> Iterator[tuple[str, str]]:
    match value:
        case None:
            return
        case dict():
            for key, inner in value.items():
                yield from _pairs(kind, f"{name}[{key}]", inner)
        case list() if kind == "query":
            for inner in value:
                yield name, text_of(name, inner)
        case list():
            for index, inner in enumerate(value):
                grouped = isinstance(inner, dict | list)
                yield from _pairs(kind, f"{name}[{index if grouped else ''}]", inner)
        case _:
            yield name, text_of(name, value)
