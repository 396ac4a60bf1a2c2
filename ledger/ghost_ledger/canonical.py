"""GJ1, the one encoding of everything we sign: a profile of RFC 8785 without its hard cases.

One object on one line; names `[a-z][a-z0-9_]{0,31}`, sorted; values are strings, integers within
±(2^53-1), true, false, arrays and objects; no float, no null. A text that would not be encoded to
the very same bytes again is refused, so every value has exactly one form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NoReturn

from ghost_core.errors import IntegrityError

__all__ = ["BODY_LIMIT", "Value", "decode", "encode"]

type Value = str | int | bool | list[Value] | dict[str, Value]

BODY_LIMIT = 16 * 1024
_DEPTH = 8
_INTEGER = 2**53 - 1
_DIGITS = 17  # sixteen digits of 2^53-1 and a sign
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}\Z")
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def encode(value: Mapping[str, Value], *, limit: int = BODY_LIMIT) -> bytes:
    """Return the GJ1 line of an object, without a newline, at most `limit` bytes.

    Raises:
        IntegrityError: a value outside the grammar (code `ledger.grammar`).
    """
    plain = dict(value)
    _check((plain,), _DEPTH)
    try:
        data = _ENCODER.encode(plain).encode("utf-8")
    except UnicodeEncodeError as error:
        raise _refusal("text holds a lone surrogate") from error
    if len(data) > limit:
        raise _refusal(f"expected at most {limit} bytes, found {len(data)}")
    return data


def decode(data: bytes, *, limit: int = BODY_LIMIT) -> dict[str, Value]:
    """Read a GJ1 line of at most `limit` bytes back into its object.

    Raises:
        IntegrityError: anything that `encode` would not have written (code `ledger.grammar`).
    """
    if len(data) > limit:
        raise _refusal(f"expected at most {limit} bytes, found {len(data)}")
    try:
        value = _DECODER.decode(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _refusal(f"not json: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise _refusal("expected an object")
    if encode(value, limit=limit) != data:
        raise _refusal("not in canonical form")
    return value


def _check(values: Iterable[object], depth: int) -> None:
    """Walk values; exact types only, because a subclass may encode as something else."""
    for value in values:
        kind = type(value)
        if kind is str or kind is bool:
            continue
        if isinstance(value, int) and kind is int:
            if not -_INTEGER <= value <= _INTEGER:
                raise _refusal("integer outside ±(2^53-1)")
        elif isinstance(value, dict) and kind is dict:
            _check_names(value, depth)
            _check(value.values(), depth - 1)
        elif isinstance(value, list) and kind is list:
            if depth == 0:
                raise _refusal(f"nested deeper than {_DEPTH}")
            _check(value, depth - 1)
        else:
            raise _refusal(f"a value of type {kind.__name__}")


def _check_names(value: Mapping[object, object], depth: int) -> None:
    if depth == 0:
        raise _refusal(f"nested deeper than {_DEPTH}")
    for name in value:
        if type(name) is not str or not _is_name(name):
            raise _refusal("a name does not match [a-z][a-z0-9_]{0,31}")


@lru_cache(
    maxsize=1024
)  # the names of our entries are few; those of a hostile text push each other out
def _is_name(name: str) -> bool:
    return _NAME.match(name) is not None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object from its members, refusing duplicates before anyone can pick one."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _refusal("an object repeats a name")
    return value


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise _refusal("integer outside ±(2^53-1)")
    return int(text)


def _refuse(_text: str) -> NoReturn:
    raise _refusal("a number that is no integer")


def _refusal(reason: str) -> IntegrityError:
    return IntegrityError(f"canonical form: {reason}", code="ledger.grammar")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_refuse, parse_constant=_refuse
)
