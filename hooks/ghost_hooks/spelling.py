"""One spelling of a parameter that a gate reads: what a server may take for the same field is refused.

Servers fold names: PHP makes `a.b`, `a b` and `a[b` the field `a_b`, .NET, Go and Java can ignore case,
Rack and qs drop brackets, Spring splits at dots and takes `!a` as a default, and many merge query and body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from ghost_hooks.folding import MARK, folded
from ghost_hooks.params import Json, Kind, Params, UnreadableError, name_steps, of_request
from ghost_hooks.percent import pieces, unquoted
from ghost_hooks.request import Request

type Steps = tuple[str, ...]

_JSON_START = re.compile(rb"\s*[{\[]")
_LEVEL = re.compile(r"[.\[\]]+")
_WIDE_ESCAPE = re.compile(r"%u([0-9A-Fa-f]{4})")  # IIS decodes it
_USUAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_REMEMBERED = 200  # characters of a name; longer ones would fill the memory
_DEEPEST = 100  # levels of a name that are looked at; no gate reads a deeper field


def read_params(request: Request, kind: Kind | None, reads: Iterable[Steps]) -> Params:
    """Read the parameters for gates that read these fields.

    Raises: UnreadableError as `of_request` does, or `params.spelling` where a field of theirs is there in
    another spelling, twice, or in a second place.
    """
    params = of_request(request, kind)
    reads = dict.fromkeys(reads)
    if reads:
        require_form(request, params)
    body = request.body if request.body and not params.typed else b""
    query, form = _names(request.target.query), _names((body or b"").decode())
    for steps in reads:
        if params.typed and _stray_in_json(params.values, steps):
            raise _refused(steps, "is there in a spelling that a server may read as the same")
        _require_one_place(steps, query, form, typed=params.typed)
    return params


def require_form(request: Request, params: Params) -> None:
    """Refuse a form that is JSON to servers which go by the first character and not by the type."""
    if not params.typed and _JSON_START.match(request.body or b""):
        raise UnreadableError(
            "body: is JSON under the type of a form", code="params.media", status=415
        )


def _require_one_place(
    steps: Steps, query: Sequence[str], form: Sequence[str], *, typed: bool
) -> None:
    named = [[name for name in names if _reads(name, steps)] for names in (query, form)]
    if (typed and named[0]) or all(named):
        raise _refused(steps, "is there in the query and in the body")
    shapes = [_shape(name_steps(name), steps) for name in (*named[0], *named[1])]
    if None in shapes or len(set(shapes)) > 1:
        raise _refused(steps, "is there in a spelling that a server may read as the same")
    if shapes.count("single") > 1:
        raise _refused(steps, "is there twice")


def _refused(steps: Steps, why: str) -> UnreadableError:
    field = ".".join(steps)
    return UnreadableError(
        f"params: {field!r} is read by a gate, and {why}",
        code="params.spelling",
        hint=f"send {field!r} once, spelled exactly so, in the body or in the query",
    )


def fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a query or form as lax servers split and decode them."""
    for piece in text.replace(";", "&").split("&"):  # an expression would take long, in one step
        name, _, value = piece.partition("=")
        if name:
            yield _decoded(name), _decoded(value)


def beginning(text: str) -> str:
    """Return the first part of a name, as it is sent, in as few characters as decide what the whole is."""
    plain = _decoded(text)
    if plain != (ended := plain.partition("\0")[0]):
        return f"{folded(ended)}["
    levels = [folded(each) for each in _LEVEL.split(plain.lstrip("[]"), maxsplit=1)]
    whole = folded(plain) or ("_" if MARK.match(plain) else "")
    return f"{levels[0]}[" if len(levels) > 1 and levels[0] else whole


def _names(text: str) -> list[str]:
    return [name for name, _ in fields(text)]


def _decoded(name: str) -> str:
    parts = pieces(name.replace("+", " "), "%", 6)
    wide = "".join(_WIDE_ESCAPE.sub(lambda found: chr(int(found[1], 16)), each) for each in parts)
    return unquoted(wide.encode("utf-8", "ignore")).decode("utf-8", "ignore")


def _shape(sent: Steps, steps: Steps) -> str | None:
    """Return how a name spells the steps, None if it does not; a place in a list may be any number."""
    if any(not _same_step(*pair) for pair in zip(sent, steps, strict=False)):
        return None
    if sent == steps and not any(map(str.isdigit, steps)):
        return "single"
    kept = ["#" if each.isdigit() else each for each in sent[: len(steps)]]
    return "/".join([*kept, ">" if len(sent) > len(steps) else ""])


def _same_step(sent: str, step: str) -> bool:
    return sent == step or (step.isdigit() and (sent.isdigit() or not sent))


def _stray_in_json(node: Json, steps: Steps) -> bool:
    """Tell whether JSON names the steps in another way than in the one that is looked up."""
    if not steps:
        return False
    step, rest = steps[0], steps[1:]
    if isinstance(node, Mapping):
        others = (name for name in node if name != step)
        below = node.get(step)
        return any(_reads(name, steps) for name in others) or _stray_in_json(below, rest)
    if not isinstance(node, Sequence) or isinstance(node, str):
        return False
    if step.isdigit():
        return int(step) < len(node) and _stray_in_json(node[int(step)], rest)
    # Where no list is looked up, a server may read one element, or each of them.
    return any(_holds(each, steps) for each in node)


def _holds(node: Json, steps: Steps) -> bool:
    if isinstance(node, Mapping):
        return any(_reads(name, steps) for name in node)
    return isinstance(node, list) and any(_holds(each, steps) for each in node)


def _reads(name: str, steps: Steps) -> bool:
    """Tell whether a server may read a name as these steps, as a part of them, or as one below them."""
    wanted = _wanted(steps)
    if _USUAL.match(name):  # as most are, and a body can have millions
        return name.lower().replace("_", "").replace("-", "") in wanted[:1]
    return any(
        all(sent == step for sent, step in zip(reading, wanted, strict=False))
        for reading in readings(name)
    )


@lru_cache(maxsize=256)
def _wanted(steps: Steps) -> Steps:
    return tuple(folded(step) for step in steps if not step.isdigit())


def readings(name: str) -> tuple[Steps, ...]:
    """Return a name as a whole, in levels, and cut where C would; numbers and empty levels are no names."""
    return (_known if len(name) <= _REMEMBERED else _read)(name)


def _read(name: str) -> tuple[Steps, ...]:
    found: list[Steps] = []
    for text in dict.fromkeys((name, name.partition("\0")[0])):
        levels = (folded(each) for each in _levels(text) if not each.isdigit())
        found += [(folded(text),), tuple(islice((each for each in levels if each), _DEEPEST))]
    return tuple(each for each in dict.fromkeys(found) if each and each[0])


_known = lru_cache(maxsize=4096)(_read)


def _levels(name: str) -> Iterator[str]:
    """Yield the levels one by one: to split a long name at once keeps everybody waiting."""
    at = 0
    for mark in _LEVEL.finditer(name):
        yield name[at : mark.start()]
        at = mark.end()
    yield name[at:]
